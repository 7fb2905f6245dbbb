// A packed scene is, little-endian throughout:
//   magic, version, the scene's name
//   sections    each its name and entries; an entry is its shape's line and rows, then its own rows. Where a shape may
//               be left out, a byte tells whether there is one
//   samples     of water, clouds, solids, sources, sinks, wind, forces and surface pressures, in the order in which build_scene
//               asks for them
//   checksum    64 bits over all that
// A row is its name, its kind and its value; rows without a value are left out, and an empty name ends them. Names keep
// a program whose tables differ from taking one key for another.

#include "tarn/scene/pack.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "tarn/base/checksum.h"
#include "tarn/base/error.h"
#include "tarn/params/tables.h"
#include "tarn/scene/validate.h"

namespace tarn {

namespace {

static_assert(std::endian::native == std::endian::little, "packed scenes are written as they lie in memory");

constexpr uint32_t version = 4;

// ---- Writing ----

class Writer {
public:
    std::string bytes;

    template <class T>
    void put_plain(const T& value)
    {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void put_count(size_t n) { put_plain(static_cast<uint32_t>(n)); }

    void put(double x) { put_plain(x); }
    void put(int i) { put_plain(static_cast<int32_t>(i)); }
    void put(bool b) { put_plain(static_cast<uint8_t>(b)); }
    void put(const std::string& text)
    {
        put_count(text.size());
        bytes += text;
    }
    void put(const Vec3& v)
    {
        for (int a = 0; a < 3; ++a) put(v[a]);
    }
    void put(const std::vector<double>& list)
    {
        put_count(list.size());
        for (const double x : list) put(x);
    }
    template <class T>
    void put(const Keyed<T>& keyed)
    {
        put_count(keyed.keys.size());
        for (const auto& key : keyed.keys) {
            put(key.t);
            put(key.v);
            put(static_cast<int>(key.ease));
        }
        put_count(keyed.formulas.size());
        for (const Formula& formula : keyed.formulas) put(formula.text());
    }

    void put_rows(std::span<const ParamRow> rows, const void* object)
    {
        for (const ParamRow& row : rows)
            if (const auto value = row.value(object)) {
                put(std::string(row.name));
                put(static_cast<int>(row.kind));
                std::visit([&](const auto& v) { put(v); }, *value);
            }
        put(std::string());
    }

    void put_grid(const DistanceGrid& grid)
    {
        put(grid.origin);
        put(grid.spacing);
        for (int a = 0; a < 3; ++a) put(grid.nodes[a]);
        bytes.append(reinterpret_cast<const char*>(grid.values.data()), grid.values.size() * sizeof(float));
    }
};

// ---- Reading ----

class Reader {
public:
    Reader(std::string_view bytes, const std::string& file) : left_(bytes), file_(file) {}

    [[noreturn]] void fail(const std::string& text) const { throw InputError(file_ + ": " + text); }
    [[noreturn]] void malformed() const { fail("malformed; pack the scene again"); }
    [[noreturn]] void unknown(const std::string& name) const
    {
        fail("holds " + quoted(name) + ", which this program does not know; pack the scene with a tarn of its version");
    }
    bool at_end() const { return left_.empty(); }

    template <class T>
    T get_plain()
    {
        T value;
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }
    // How many things of so many bytes follow; there is room for no more than the file has left.
    size_t get_count(size_t bytes_each)
    {
        const size_t n = get_plain<uint32_t>();
        if (n > left_.size() / bytes_each) malformed();
        return n;
    }
    std::string get_text() { return std::string(take(get_count(1))); }

    void get(double& x) { x = get_plain<double>(); }
    void get(int& i) { i = get_plain<int32_t>(); }
    void get(bool& b)
    {
        const auto byte = get_plain<uint8_t>();
        if (byte > 1) malformed();
        b = byte == 1;
    }
    void get(std::string& text) { text = get_text(); }
    void get(Vec3& v)
    {
        for (int a = 0; a < 3; ++a) get(v[a]);
    }
    void get(std::vector<double>& list)
    {
        list.resize(get_count(sizeof(double)));
        for (double& x : list) get(x);
    }
    template <class T>
    void get(Keyed<T>& keyed)
    {
        keyed.keys.resize(get_count(sizeof(double) + sizeof(T) + sizeof(int32_t)));
        for (auto& key : keyed.keys) {
            get(key.t);
            get(key.v);
            const int ease = get_plain<int32_t>();
            if (ease < 0 || ease > static_cast<int>(Ease::smooth)) malformed();
            key.ease = static_cast<Ease>(ease);
        }
        if (keyed.keys.empty()) malformed();
        const size_t formulas = get_count(1);
        if (formulas > sizeof(T) / sizeof(double)) malformed();
        for (size_t i = 0; i < formulas; ++i) {
            std::string why;
            const auto formula = Formula::parse(get_text(), why);
            if (!formula) malformed();
            keyed.formulas.push_back(*formula);
        }
    }

    void get_rows(std::span<const ParamRow> rows, void* object)
    {
        for (std::string name = get_text(); !name.empty(); name = get_text()) {
            const ParamRow* row = nullptr;
            for (const ParamRow& r : rows)
                if (r.name == name) row = &r;
            if (!row) unknown(name);
            if (get_plain<int32_t>() != static_cast<int>(row->kind)) unknown(name);
            ParamValue value = blank(row->kind);
            std::visit([&](auto& v) { get(v); }, value);
            if (row->kind == ParamKind::choice && !*word_of(row->words, std::get<int>(value))) malformed();
            row->set(object, value);
        }
    }

    std::shared_ptr<const DistanceGrid> get_grid()
    {
        DistanceGrid grid;
        get(grid.origin);
        get(grid.spacing);
        if (!(grid.spacing > 0)) malformed();
        size_t total = 1;
        for (int a = 0; a < 3; ++a) {
            get(grid.nodes[a]);
            if (grid.nodes[a] < 2 || total > left_.size() / sizeof(float) / grid.nodes[a]) malformed();
            total *= grid.nodes[a];
        }
        grid.values.resize(total);
        std::memcpy(grid.values.data(), take(total * sizeof(float)).data(), total * sizeof(float));
        return std::make_shared<const DistanceGrid>(std::move(grid));
    }

private:
    std::string_view take(size_t n)
    {
        if (n > left_.size()) malformed();
        const std::string_view taken = left_.substr(0, n);
        left_.remove_prefix(n);
        return taken;
    }

    // A value of the type in which a kind travels.
    static ParamValue blank(ParamKind kind)
    {
        switch (kind) {
            case ParamKind::number:
                return 0.0;
            case ParamKind::integer:
            case ParamKind::choice:
                return 0;
            case ParamKind::boolean:
                return false;
            case ParamKind::text:
                return std::string();
            case ParamKind::vector:
                return Vec3();
            case ParamKind::numbers:
                return std::vector<double>();
            case ParamKind::keyed_number:
                return Keyed<double>();
            case ParamKind::keyed_vector:
            case ParamKind::keyed_turn:
                return Keyed<Vec3>();
        }
        return {};
    }

    std::string_view left_;
    const std::string& file_;
};

Params get_params(Reader& in)
{
    Params params;
    for (size_t n = in.get_count(1); n > 0; --n) {
        const std::string name = in.get_text();
        const Section* section = nullptr;
        for (const Section& s : sections())
            if (s.name == name) section = &s;
        if (!section) in.unknown(name);
        const size_t entries = in.get_count(1);
        if (!section->repeated() && (entries > 1 || (entries == 0 && !section->may_be_absent()))) in.malformed();
        for (size_t i = 0; i < entries; ++i) {
            const size_t entry = section->repeated() ? section->count(params) : 0;
            if (section->may_be_absent()) section->add(params);
            bool has_shape = section->repeated() && section->shape && !section->add_shape;
            if (section->add_shape) in.get(has_shape);
            if (section->add_shape && has_shape) section->add_shape(params);
            if (has_shape) {
                ShapeParams& shape = *section->shape(params, entry);
                in.get(shape.line);
                in.get_rows(shape_rows(), &shape);
            }
            in.get_rows(section->rows, section->object(params, entry));
        }
    }
    return params;
}

}  // namespace

std::string pack_scene(const Scene& scene)
{
    Writer out;
    out.bytes = pack_magic;
    out.put_plain(version);
    out.put(scene.name);

    // Sections give out what they hold for writing, hence the copy.
    Params params = scene.params;
    out.put_count(sections().size());
    for (const Section& section : sections()) {
        out.put(std::string(section.name));
        out.put_count(section.entries(params));
        for (size_t i = 0; i < section.entries(params); ++i) {
            const ShapeParams* shape = section.shape_of(params, i);
            if (section.add_shape) out.put(shape != nullptr);
            if (shape) {
                out.put(shape->line);
                out.put_rows(shape_rows(), shape);
            }
            out.put_rows(section.rows, section.object(params, i));
        }
    }

    std::vector<const Geometry*> geometries{&scene.water, &scene.clouds, &scene.solids};
    for (const Geometry& g : scene.sources) geometries.push_back(&g);
    for (const Geometry& g : scene.sinks) geometries.push_back(&g);
    geometries.push_back(&scene.wind);
    for (const Geometry& g : scene.forces) geometries.push_back(&g);
    for (const Geometry& g : scene.pressures) geometries.push_back(&g);
    for (const Geometry& g : scene.vortices) geometries.push_back(&g);
    size_t grids = 0;
    for (const Geometry* g : geometries) grids += g->grids().size();
    out.put_count(grids);
    for (const Geometry* g : geometries)
        for (const auto& grid : g->grids()) out.put_grid(*grid);

    out.put_plain(checksum(out.bytes));
    return std::move(out.bytes);
}

Scene unpack_scene(std::string_view bytes, const std::string& file)
{
    const auto fail = [&](const std::string& text) { throw InputError(file + ": " + text); };
    if (!bytes.starts_with(pack_magic)) fail("not a packed scene; make one with: tarn pack SCENE");
    const size_t head = pack_magic.size() + sizeof version;
    const char* torn = "damaged or cut short; copy it again, or pack the scene again";
    uint64_t sum = 0;
    if (bytes.size() < head + sizeof sum) fail(torn);
    uint32_t found = 0;
    std::memcpy(&found, bytes.data() + pack_magic.size(), sizeof found);
    if (found != version)
        fail("a packed scene of version " + std::to_string(found) + ", but this program reads version " +
             std::to_string(version) + "; pack the scene with a tarn of its version");
    std::memcpy(&sum, bytes.data() + bytes.size() - sizeof sum, sizeof sum);
    bytes.remove_suffix(sizeof sum);
    if (checksum(bytes) != sum) fail(torn);

    Reader in(bytes.substr(head), file);
    std::string name = in.get_text();
    Params params = get_params(in);
    if (const auto wrong = problems(params); !wrong.empty())
        fail(wrong[0].key + ": " + wrong[0].text + "; mend the scene and pack it again");

    size_t grids = in.get_count(1);
    const auto next_grid = [&](const ShapeParams&) {
        if (grids-- == 0) in.malformed();
        return in.get_grid();
    };
    Scene scene = build_scene(std::move(params), std::move(name), file, next_grid);
    if (grids != 0 || !in.at_end()) in.malformed();
    return scene;
}

}  // namespace tarn
