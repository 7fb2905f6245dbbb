// The top layer holds value clips: they say that the attributes of /tarn have their values at time code N in the layer
// surface/frame_N.usda. A manifest lists those attributes, so that a reader need not open every frame to know them; it
// also defines the prims, and so the top layer takes it in. Each frame holds one sample of each attribute, so that
// between frames a mesh stays as it is: the next has other points, and nothing is there to interpolate. What happens in
// between is told by the velocities.
//
// https://openusd.org/release/api/_usd__page__value_clips.html

#include "tarn/output/usd.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "tarn/output/files.h"
#include "tarn/params/tables.h"

namespace tarn {

namespace {

constexpr const char* surface_prims =
    R"(    def Mesh "surface"
    {
        uniform token subdivisionScheme = "none"
        float3[] extent
        point3f[] points
        normal3f[] normals (
            interpolation = "vertex"
        )
        vector3f[] velocities
        int[] faceVertexCounts
        int[] faceVertexIndices
    }
)";
constexpr const char* spray_prims =
    R"(    def Points "spray"
    {
        float3[] extent
        point3f[] points
        vector3f[] velocities
        float[] widths (
            interpolation = "vertex"
        )
    }
)";

class Text {
public:
    template <class... Args>
    void add(fmt::format_string<Args...> format, Args&&... args)
    {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    }

    // "name.timeSamples = { frame: [a, b, ...] }"
    template <class List, class Each>
    void add_sample(const char* name, int frame, const List& list, Each&& each)
    {
        add("        {}.timeSamples = {{ {}: [", name, frame);
        const char* between = "";
        for (const auto& value : list) {
            add("{}", between);
            each(value);
            between = ", ";
        }
        add("] }}\n");
    }
    void add_vectors(const char* name, int frame, const std::vector<Vec3f>& list)
    {
        add_sample(name, frame, list, [&](const Vec3f& v) { add("({}, {}, {})", v[0], v[1], v[2]); });
    }

    void write(const std::string& path) const { write_file(path, {text_.data(), text_.size()}); }

private:
    fmt::memory_buffer text_;
};

// The lowest and the highest corner of balls; of nothing, nothing.
template <class Radius>
std::vector<Vec3f> extent(const std::vector<Vec3f>& points, Radius&& radius)
{
    if (points.empty()) return {};
    constexpr float most = std::numeric_limits<float>::max();
    Vec3f low = Vec3f::all(most), high = Vec3f::all(-most);
    for (size_t i = 0; i < points.size(); ++i)
        for (int a = 0; a < 3; ++a) {
            low[a] = std::min(low[a], points[i][a] - radius(i));
            high[a] = std::max(high[a], points[i][a] + radius(i));
        }
    return {low, high};
}

void begin_layer(Text& text)
{
    text.add("#usda 1.0\n(\n    defaultPrim = \"tarn\"\n    metersPerUnit = 1\n    upAxis = \"Y\"\n");
}

void begin_frame(Text& text, int frame)
{
    begin_layer(text);
    text.add("    startTimeCode = {0}\n    endTimeCode = {0}\n)\n\ndef Xform \"tarn\"\n{{\n", frame);
}

void add_mesh(Text& text, const char* name, int frame, const Mesh& mesh)
{
    text.add("    def Mesh \"{}\"\n    {{\n        uniform token subdivisionScheme = \"none\"\n", name);
    text.add_vectors("float3[] extent", frame, extent(mesh.points, [](size_t) { return 0.0f; }));
    text.add_vectors("point3f[] points", frame, mesh.points);
    text.add_vectors("normal3f[] normals", frame, mesh.normals);
    text.add_vectors("vector3f[] velocities", frame, mesh.velocities);
    text.add_sample("int[] faceVertexCounts", frame, mesh.triangles, [&](const auto&) { text.add("3"); });
    text.add_sample("int[] faceVertexIndices", frame, mesh.triangles,
                    [&](const std::array<int, 3>& t) { text.add("{}, {}, {}", t[0], t[1], t[2]); });
    text.add("    }}\n");
}

// The frames that lie in a folder, by their numbers.
std::map<int, std::string> frames_in(const std::string& folder)
{
    std::map<int, std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename();
        int frame = 0;
        if (name.ends_with(".usda") && std::sscanf(name.c_str(), "frame_%d", &frame) == 1) found[frame] = name;
    }
    return found;
}

// One clip set: each frame from its own time on. Of solids that stand still only the first is there, and serves for
// all.
void add_clips(Text& text, const char* folder, const std::map<int, std::string>& frames)
{
    text.add("        dictionary {0} = {{\n            asset manifestAssetPath = @./{0}/manifest.usda@\n", folder);
    text.add("            string primPath = \"/tarn\"\n            asset[] assetPaths = [");
    const char* between = "";
    for (const auto& [frame, name] : frames) {
        text.add("{}@./{}/{}@", between, folder, name);
        between = ", ";
    }
    text.add("]\n            double2[] active = [");
    int n = 0;
    for (const auto& [frame, name] : frames) {
        text.add("{}({}, {})", n > 0 ? ", " : "", frame, n);
        ++n;
    }
    text.add("]\n            double2[] times = [");
    between = "";
    for (const auto& [frame, name] : frames) {
        text.add("{}({}, {})", between, frame, frame);
        between = ", ";
    }
    text.add("]\n        }}\n");
}

void write_manifest(const std::string& path, const std::string& prims)
{
    Text text;
    begin_layer(text);
    text.add(")\n\ndef Xform \"tarn\"\n{{\n{}}}\n", prims);
    text.write(path);
}

}  // namespace

void write_usd(const std::string& path, int frame, const Mesh& surface, const std::vector<Drop>* spray)
{
    Text text;
    begin_frame(text, frame);
    add_mesh(text, "surface", frame, surface);
    if (spray) {
        std::vector<Vec3f> points, velocities;
        for (const Drop& drop : *spray) {
            points.push_back(drop.position);
            velocities.push_back(drop.velocity);
        }
        text.add("    def Points \"spray\"\n    {{\n");
        text.add_vectors("float3[] extent", frame, extent(points, [&](size_t i) { return (*spray)[i].radius; }));
        text.add_vectors("point3f[] points", frame, points);
        text.add_vectors("vector3f[] velocities", frame, velocities);
        text.add_sample("float[] widths", frame, *spray, [&](const Drop& drop) { text.add("{}", 2 * drop.radius); });
        text.add("    }}\n");
    }
    text.add("}}\n");
    text.write(path);
}

void write_usd_solids(const std::string& path, int frame, const Mesh& solids)
{
    Text text;
    begin_frame(text, frame);
    add_mesh(text, "solids", frame, solids);
    text.add("}}\n");
    text.write(path);
}

void write_usd_manifests(const std::string& dir, const UsdRun& run)
{
    write_manifest(dir + "/surface/manifest.usda", surface_prims + std::string(run.spray ? spray_prims : ""));
    if (run.solids) {
        std::string prims = surface_prims;
        prims.replace(prims.find("surface"), 7, "solids");
        write_manifest(dir + "/solids/manifest.usda", prims);
    }
}

void write_usd_top(const std::string& dir, const UsdRun& run)
{
    // Beside a GPU several frames may end at once.
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    const std::map<int, std::string> frames = frames_in(dir + "/surface");
    if (frames.empty()) return;

    Text text;
    begin_layer(text);
    text.add("    doc = {}\n", quoted(run.title));
    text.add("    startTimeCode = {}\n    endTimeCode = {}\n", frames.begin()->first, frames.rbegin()->first);
    text.add("    timeCodesPerSecond = {0}\n    framesPerSecond = {0}\n", number_text(run.rate));
    text.add("    subLayers = [\n        @./surface/manifest.usda@{}\n    ]\n)\n\n",
             run.solids ? ",\n        @./solids/manifest.usda@" : "");
    text.add("over \"tarn\" (\n    clips = {{\n");
    add_clips(text, "surface", frames);
    if (run.solids) add_clips(text, "solids", frames_in(dir + "/solids"));
    text.add("    }}\n)\n{{\n}}\n");
    text.write(dir + "/tarn.usda");
}

}  // namespace tarn
