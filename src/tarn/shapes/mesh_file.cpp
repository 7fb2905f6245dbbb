// Assimp reads all formats but PLY, of which version 5.2 does not survive files that are cut short; what a distance needs
// of a mesh is made and checked here.

#include "tarn/shapes/mesh_file.h"

#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <algorithm>
#include <array>
#include <assimp/Importer.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "tarn/base/error.h"
#include "tarn/params/tables.h"

namespace tarn {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& text)
{
    throw InputError("\"" + path + "\": " + text);
}

std::string read_bytes(const std::string& path)
{
    std::ifstream stream(path, std::ios::binary);
    if (!stream) fail(path, "cannot be opened; paths are relative to the scene file");
    std::ostringstream text;
    text << stream.rdbuf();
    if (stream.bad() || !stream) fail(path, "cannot be read, or is empty");
    return text.str();
}

// A polygon of any size as triangles around its first point.
void add_polygon(ClosedMesh& mesh, const std::vector<long>& corners, const std::string& path)
{
    for (const long c : corners)
        if (c < 0 || c >= static_cast<long>(mesh.points.size()))
            fail(path, "a face names point " + std::to_string(c) + " of " + std::to_string(mesh.points.size()) +
                           "; export the mesh again");
    for (size_t i = 2; i < corners.size(); ++i)
        mesh.triangles.push_back(
            {static_cast<int>(corners[0]), static_cast<int>(corners[i - 1]), static_cast<int>(corners[i])});
}

// ---- PLY ----

enum class PlyType { i8, u8, i16, u16, i32, u32, f32, f64 };

struct PlyProperty {
    std::string name;
    PlyType type = PlyType::f32;
    bool list = false;
    PlyType count = PlyType::u8;  // of a list
};
struct PlyElement {
    std::string name;
    long count = 0;
    std::vector<PlyProperty> properties;
};

PlyType ply_type(const std::string& word, const std::string& path)
{
    const std::pair<const char*, PlyType> names[] = {
        {"char", PlyType::i8},   {"int8", PlyType::i8},     {"uchar", PlyType::u8},   {"uint8", PlyType::u8},
        {"short", PlyType::i16}, {"int16", PlyType::i16},   {"ushort", PlyType::u16}, {"uint16", PlyType::u16},
        {"int", PlyType::i32},   {"int32", PlyType::i32},   {"uint", PlyType::u32},   {"uint32", PlyType::u32},
        {"float", PlyType::f32}, {"float32", PlyType::f32}, {"double", PlyType::f64}, {"float64", PlyType::f64},
    };
    for (const auto& [name, type] : names)
        if (word == name) return type;
    fail(path, "the PLY header names an unknown type \"" + word + "\"; export the mesh again");
}

// The values of the body one after another, whether they are text or bytes.
class PlyValues {
public:
    PlyValues(const char* begin, const char* end, bool binary, const std::string& path)
        : at_(begin), end_(end), binary_(binary), path_(path)
    {
    }

    double next(PlyType type)
    {
        if (!binary_) {
            char* after = nullptr;
            const double x = std::strtod(at_, &after);
            if (after == at_) ends();
            at_ = after;
            return x;
        }
        switch (type) {
            case PlyType::i8:
                return take<int8_t>();
            case PlyType::u8:
                return take<uint8_t>();
            case PlyType::i16:
                return take<int16_t>();
            case PlyType::u16:
                return take<uint16_t>();
            case PlyType::i32:
                return take<int32_t>();
            case PlyType::u32:
                return take<uint32_t>();
            case PlyType::f32:
                return take<float>();
            case PlyType::f64:
                return take<double>();
        }
        return 0;
    }

    long next_count(PlyType type)
    {
        const double n = next(type);
        // A list cannot have more values than there are bytes left, which also bounds what a torn file allocates.
        if (!(n >= 0 && n <= static_cast<double>(end_ - at_))) ends();
        return static_cast<long>(n);
    }

private:
    const char *at_, *end_;
    bool binary_;
    const std::string& path_;

    [[noreturn]] void ends() const
    {
        fail(path_, "ends too early or holds no numbers where it should; export it again");
    }

    template <class T>
    T take()
    {
        if (end_ - at_ < static_cast<std::ptrdiff_t>(sizeof(T))) ends();
        T value;
        std::memcpy(&value, at_, sizeof(T));
        at_ += sizeof(T);
        return value;
    }
};

ClosedMesh read_ply(const std::string& text, const std::string& path)
{
    size_t at = 0;
    const auto next_line = [&] {
        const size_t end = text.find('\n', at);
        if (end == std::string::npos) fail(path, "the PLY header does not end");
        std::string line = text.substr(at, end - at);
        at = end + 1;
        if (!line.empty() && line.back() == '\r') line.pop_back();
        return line;
    };
    if (next_line() != "ply") fail(path, "is not a PLY file: its first line is not \"ply\"");

    bool binary = false;
    std::vector<PlyElement> elements;
    for (;;) {
        std::istringstream words(next_line());
        std::string word;
        words >> word;
        if (word == "end_header") break;
        if (word == "format") {
            words >> word;
            if (word != "ascii" && word != "binary_little_endian")
                fail(path, "has the format \"" + word + "\"; export it as ascii or binary_little_endian");
            binary = word != "ascii";
        } else if (word == "element") {
            PlyElement element;
            words >> element.name >> element.count;
            if (!words || element.count < 0) fail(path, "the PLY header is broken at an element");
            elements.push_back(element);
        } else if (word == "property") {
            if (elements.empty()) fail(path, "the PLY header has a property before any element");
            PlyProperty property;
            words >> word;
            property.list = word == "list";
            if (property.list) {
                words >> word;
                property.count = ply_type(word, path);
                words >> word;
            }
            property.type = ply_type(word, path);
            words >> property.name;
            elements.back().properties.push_back(property);
        }
    }

    ClosedMesh mesh;
    std::vector<long> corners;
    PlyValues values(text.data() + at, text.data() + text.size(), binary, path);
    for (const PlyElement& element : elements) {
        // An element without values takes no space, so its count is worth nothing.
        if (element.properties.empty()) continue;
        for (long i = 0; i < element.count; ++i) {
            Vec3 point;
            corners.clear();
            for (const PlyProperty& property : element.properties) {
                if (property.list) {
                    const bool face = property.name == "vertex_indices" || property.name == "vertex_index";
                    for (long n = values.next_count(property.count); n > 0; --n) {
                        const double corner = values.next(property.type);
                        if (face) corners.push_back(corner >= 0 && corner < 2e9 ? static_cast<long>(corner) : -1);
                    }
                } else {
                    const double x = values.next(property.type);
                    for (int a = 0; a < 3; ++a)
                        if (property.name.size() == 1 && property.name[0] == "xyz"[a]) point[a] = x;
                }
            }
            if (element.name == "vertex") mesh.points.push_back(point);
            if (element.name == "face") add_polygon(mesh, corners, path);
        }
    }
    return mesh;
}

// ---- The other formats ----

// Every triangle of a file, in the coordinates of the whole: parts are moved to where the file places them, and formats
// that know their unit come in metres.
ClosedMesh read_triangles(const std::string& path)
{
    Assimp::Importer importer;
    importer.SetPropertyInteger(AI_CONFIG_PP_SBP_REMOVE, aiPrimitiveType_POINT | aiPrimitiveType_LINE);
    importer.SetPropertyInteger(AI_CONFIG_PP_RVC_FLAGS,
                                aiComponent_NORMALS | aiComponent_TANGENTS_AND_BITANGENTS | aiComponent_COLORS |
                                    aiComponent_TEXCOORDS | aiComponent_BONEWEIGHTS | aiComponent_ANIMATIONS |
                                    aiComponent_TEXTURES | aiComponent_LIGHTS | aiComponent_CAMERAS |
                                    aiComponent_MATERIALS);
    const aiScene* scene =
        importer.ReadFile(path, aiProcess_Triangulate | aiProcess_SortByPType | aiProcess_RemoveComponent |
                                    aiProcess_GlobalScale | aiProcess_PreTransformVertices);
    if (!scene) {
        std::string why = importer.GetErrorString();
        std::replace(why.begin(), why.end(), '\n', ' ');
        fail(path, "cannot be read as a mesh: " + why + "; export it again");
    }
    ClosedMesh mesh;
    for (unsigned m = 0; m < scene->mNumMeshes; ++m) {
        const aiMesh& part = *scene->mMeshes[m];
        const int first = static_cast<int>(mesh.points.size());
        for (unsigned i = 0; i < part.mNumVertices; ++i) {
            const aiVector3D& p = part.mVertices[i];
            mesh.points.push_back({p.x, p.y, p.z});
        }
        for (unsigned i = 0; i < part.mNumFaces; ++i) {
            const aiFace& face = part.mFaces[i];
            if (face.mNumIndices != 3) continue;
            Cell<3> t;
            for (unsigned c = 0; c < 3; ++c) {
                if (face.mIndices[c] >= part.mNumVertices)
                    fail(path, "a face names point " + std::to_string(face.mIndices[c]) + " of " +
                                   std::to_string(part.mNumVertices) + "; export the mesh again");
                t[static_cast<int>(c)] = first + static_cast<int>(face.mIndices[c]);
            }
            mesh.triangles.push_back(t);
        }
    }
    return mesh;
}

// ---- Closedness ----

struct PointHash {
    size_t operator()(const Vec3& p) const
    {
        uint64_t h = 0;
        for (int a = 0; a < 3; ++a) {
            uint64_t bits;
            std::memcpy(&bits, &p.v[a], sizeof bits);
            h = (h ^ bits) * 0x9e3779b97f4a7c15ull;
            h ^= h >> 29;
        }
        return static_cast<size_t>(h);
    }
};

// Many programs write a point once for every face that touches it; edges are shared only once those are one.
void weld(ClosedMesh& mesh)
{
    std::unordered_map<Vec3, int, PointHash> first;
    std::vector<int> renamed;
    std::vector<Vec3> points;
    for (Vec3 p : mesh.points) {
        for (int a = 0; a < 3; ++a) p[a] += 0.0;  // so that -0 and 0 are the same bits
        const auto [it, added] = first.try_emplace(p, static_cast<int>(points.size()));
        if (added) points.push_back(p);
        renamed.push_back(it->second);
    }
    std::vector<Cell<3>> triangles;
    for (Cell<3> t : mesh.triangles) {
        for (int a = 0; a < 3; ++a) t[a] = renamed[static_cast<size_t>(t[a])];
        if (t[0] != t[1] && t[1] != t[2] && t[2] != t[0]) triangles.push_back(t);
    }
    mesh = {std::move(points), std::move(triangles)};
}

void check_closed(const ClosedMesh& mesh, const std::string& path)
{
    std::vector<std::array<int, 2>> edges;
    edges.reserve(3 * mesh.triangles.size());
    for (const Cell<3>& t : mesh.triangles)
        for (int a = 0; a < 3; ++a) {
            const int p = t[a], q = t[(a + 1) % 3];
            edges.push_back({std::min(p, q), std::max(p, q)});
        }
    std::sort(edges.begin(), edges.end());
    size_t bad = 0;
    std::array<int, 2> first_bad{};
    for (size_t i = 0, j; i < edges.size(); i = j) {
        for (j = i; j < edges.size() && edges[j] == edges[i];) ++j;
        if (j - i != 2 && bad++ == 0) first_bad = edges[i];
    }
    if (!bad) return;
    const Vec3 p =
        0.5 * (mesh.points[static_cast<size_t>(first_bad[0])] + mesh.points[static_cast<size_t>(first_bad[1])]);
    fail(path, "is not closed: " + std::to_string(bad) +
                   " of its edges do not join exactly two triangles, the first near (" + number_text(p[0]) + ", " +
                   number_text(p[1]) + ", " + number_text(p[2]) +
                   "); fill its holes and remove loose faces in the program that made it");
}

std::string ending(const std::string& path)
{
    const size_t dot = path.rfind('.');
    std::string e = dot == std::string::npos ? "" : path.substr(dot);
    for (char& c : e)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return e;
}

}  // namespace

ClosedMesh read_closed_mesh(const std::string& path)
{
    const std::string kind = ending(path);
    const char* const known[] = {".obj", ".ply", ".stl", ".glb", ".gltf", ".fbx", ".dae"};
    if (std::find(std::begin(known), std::end(known), kind) == std::end(known))
        fail(path, "is no mesh that Tarn reads; export it as .obj, .ply, .stl, .glb, .gltf, .fbx or .dae");
    const std::string text = read_bytes(path);
    ClosedMesh mesh = kind == ".ply" ? read_ply(text, path) : read_triangles(path);
    weld(mesh);
    if (mesh.triangles.empty()) fail(path, "holds no triangles; export the mesh again, with its faces");
    for (const Vec3& p : mesh.points)
        for (int a = 0; a < 3; ++a)
            if (!(std::fabs(p[a]) < 1e9))
                fail(path, "has a point that is not a number or absurdly far; export it again");
    check_closed(mesh, path);
    return mesh;
}

}  // namespace tarn
