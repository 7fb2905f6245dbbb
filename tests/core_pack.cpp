// A packed scene comes back as it was: parameter by parameter, and as the water that it makes.

#include "tarn/scene/pack.h"

#include <gtest/gtest.h>

#include <cstring>

#include "run_water.h"
#include "tarn/base/checksum.h"
#include "tarn/base/error.h"
#include "tarn/params/tables.h"
#include "tarn/scene/validate.h"

namespace tarn {
namespace {

ShapeParams ball(Vec3 center, double radius)
{
    ShapeParams p;
    p.shape = ShapeKind::sphere;
    p.center = center;
    p.radius = radius;
    return p;
}

// Water that falls on a paddle, a source, a sink, a cut and a solid that only samples describe.
Params rich(int dimension)
{
    Params p = pool(dimension, dimension == 2 ? 32 : 16, 0.4);
    const double z = dimension == 2 ? 0 : 0.5;  // 2D cuts shapes there
    p.title = "All \"at\" once";
    p.fluid.viscosity = 1e-3;
    p.fluid.surface_tension = 0.072;
    p.domain.walls.right = WallKind::open;
    p.domain.walls.bottom = WallKind::no_slip;
    WaterParams cut;
    static_cast<ShapeParams&>(cut) = ball({0.1, 0.4, z}, 0.1);
    cut.subtract = true;
    cut.line = 17;
    p.water.push_back(cut);
    SolidParams paddle;
    paddle.min = Vec3{0.45, 0.1, 0.2};
    paddle.max = Vec3{0.6, 0.5, 0.8};
    paddle.rotate = Vec3{0, 0, 20};
    paddle.translate.keys = {{0, {0, 0, 0}}, {1.0 / 3, {0.1, 0, 0}}};
    paddle.no_slip = true;
    p.solid.push_back(paddle);
    SolidParams mesh;
    mesh.shape = ShapeKind::mesh;
    mesh.file = "ball.obj";
    p.solid.push_back(mesh);
    SourceParams source;
    static_cast<ShapeParams&>(source) = ball({0.2, 0.8, z}, 0.1);
    source.velocity = Keyed<Vec3>(Vec3{1, -1, 0});
    source.velocity->keys.push_back({0.5, Vec3{0, -1, 0}});
    p.source.push_back(source);
    SinkParams sink;
    static_cast<ShapeParams&>(sink) = ball({0.9, 0.1, z}, 0.1);
    sink.rate = Keyed<double>(0.1);
    p.sink.push_back(sink);
    p.wind.emplace();
    p.wind->velocity = Vec3{3, 0, 0};
    p.wind->where = ball({0.3, 0.6, z}, 0.3);
    return p;
}

// Distances to a ball, as if a mesh had been sampled.
std::shared_ptr<const DistanceGrid> sampled_ball(const ShapeParams&)
{
    DistanceGrid grid;
    grid.spacing = 0.03;
    grid.nodes = {34, 20, 34};
    for (int k = 0; k < grid.nodes[2]; ++k)
        for (int j = 0; j < grid.nodes[1]; ++j)
            for (int i = 0; i < grid.nodes[0]; ++i)
                grid.values.push_back(
                    static_cast<float>(length(Vec3{0.03 * i, 0.03 * j, 0.03 * k} - Vec3{0.8, 0.3, 0.1}) - 0.15));
    return std::make_shared<const DistanceGrid>(std::move(grid));
}

Scene rich_scene(int dimension) { return build_scene(rich(dimension), "rich", "rich.toml", sampled_ball); }

template <int D>
bool same_bits(const Field<D>& a, const Field<D>& b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

template <int D>
bool same_state(const Water<D>& a, const Water<D>& b)
{
    bool same = a.time == b.time && a.step == b.step && a.volume_expected == b.volume_expected;
    for (int axis = 0; axis < D; ++axis) same = same && same_bits(a.velocity[axis], b.velocity[axis]);
    return same && same_bits(a.phi, b.phi) && same_bits(a.pressure, b.pressure);
}

template <int D>
void expect_same_water()
{
    const Scene scene = rich_scene(D), back = unpack_scene(pack_scene(scene), "rich.pack");
    EXPECT_EQ(back.name, "rich");
    EXPECT_EQ(back.file, "rich.pack");
    Water<D> a = initial_water<D>(scene), b = initial_water<D>(back);
    EXPECT_TRUE(same_state(a, b));
    for (int i = 0; i < 4; ++i) {
        const double dt = choose_dt(a, scene);
        EXPECT_EQ(dt, choose_dt(b, back));
        EXPECT_TRUE(step(a, scene, dt).finite);
        EXPECT_TRUE(step(b, back, dt).finite);
        EXPECT_TRUE(same_state(a, b)) << "after step " << i + 1;
    }
}

TEST(Pack, a_2d_scene_makes_the_same_water) { expect_same_water<2>(); }
TEST(Pack, a_3d_scene_makes_the_same_water) { expect_same_water<3>(); }

TEST(Pack, what_was_unpacked_packs_to_the_same_bytes)
{
    const std::string bytes = pack_scene(rich_scene(3));
    EXPECT_EQ(pack_scene(unpack_scene(bytes, "x.pack")), bytes);
}

// A value of the row that is no default.
ParamValue odd_value(const ParamRow& row)
{
    const double x = row.lo + (row.hi - row.lo) / 3;
    const Vec3 v{x, row.lo + (row.hi - row.lo) / 7, x};
    switch (row.kind) {
        case ParamKind::number:
            return x;
        case ParamKind::integer:
            return static_cast<int>(row.lo) + 1;
        case ParamKind::boolean:
            return true;
        case ParamKind::text:
            return std::string("a \"name\"\n\xc3\xa9");
        case ParamKind::vector:
            return v;
        case ParamKind::choice:
            return row.words.back().value;
        case ParamKind::numbers:
            return std::vector<double>{1.0 / 3, 0.3, 0.7};
        case ParamKind::keyed_number:
            return Keyed<double>(x);
        case ParamKind::keyed_vector:
        case ParamKind::keyed_turn:
            return Keyed<Vec3>(v);
    }
    return {};
}

TEST(Pack, every_parameter_comes_back)
{
    const Params base = rich(3);
    int tried = 0;
    const auto try_row = [&](const Section& section, const ParamRow& row, bool of_shape) {
        // What a scene so rich cannot have is tried in a pool.
        Params p = section.entries(base) > 0 ? base : pool(3, 16, 0.4);
        if (section.entries(p) == 0) section.add(p);
        const size_t entry = section.repeated() ? section.count(p) - 1 : 0;
        const auto object = [&](Params& of) -> void* {
            return of_shape ? section.shape(of, entry) : section.object(of, entry);
        };
        row.set(object(p), odd_value(row));
        if (!problems(p).empty()) return;
        Params back = unpack_scene(pack_scene(build_scene(p, "x", "x", sampled_ball)), "x").params;
        EXPECT_TRUE(row.value(object(p)) == row.value(object(back))) << section.name << "." << row.name;
        ++tried;
    };
    for (const Section& section : sections()) {
        if (section.repeated())
            for (const ParamRow& row : shape_rows())
                // Elsewhere it might lie outside the domain, which only a solid may.
                if (std::string(section.name) == "solid") try_row(section, row, true);
        for (const ParamRow& row : section.rows) try_row(section, row, false);
    }
    EXPECT_GT(tried, 50);

    Params back = unpack_scene(pack_scene(rich_scene(3)), "x").params;
    EXPECT_EQ(back.water[1].line, 17);
    EXPECT_EQ(back.solid[1].shape, ShapeKind::mesh);
    EXPECT_FALSE(back.source[0].rate.has_value());
    EXPECT_FALSE(back.camera.position.has_value());
    EXPECT_EQ(back.time.max_step, std::numeric_limits<double>::infinity());
    ASSERT_TRUE(back.wind && back.wind->where);
    EXPECT_EQ(back.wind->where->radius, 0.3);
    Params p = pool(3, 16, 0.4);
    EXPECT_FALSE(unpack_scene(pack_scene(scene_of(p)), "x").params.wind);
    p.wind.emplace();
    back = unpack_scene(pack_scene(scene_of(p)), "x").params;
    ASSERT_TRUE(back.wind);
    EXPECT_FALSE(back.wind->where);
    EXPECT_FALSE(back.flow);
}

TEST(Pack, forces_keep_their_formulas_and_shapes)
{
    Params p = pool(3, 16, 0.4);
    p.force.resize(2);
    for (ForceParams& force : p.force) force.kind = ForceKind::drag, force.rate = 2.0;
    std::string why;
    p.force[0].rate.formulas = {*Formula::parse("1 + t", why)};
    p.force[1].where.emplace();
    p.force[1].where->min = Vec3{0, 0, 0};
    p.force[1].where->max = Vec3{0.5, 0.5, 0.5};
    const Scene back = unpack_scene(pack_scene(scene_of(p)), "x");
    EXPECT_EQ(back.params.force[0].rate.at(2), 3);
    EXPECT_FALSE(back.params.force[0].where);
    ASSERT_TRUE(back.params.force[1].where);
    EXPECT_TRUE(back.forces[0].empty());
    EXPECT_EQ(back.forces[1].size(), 1u);
}

void expect_refused(const std::string& bytes, const std::string& words)
{
    try {
        unpack_scene(bytes, "x.pack");
        ADD_FAILURE() << "accepted; expected: " << words;
    } catch (const InputError& e) {
        const std::string text = e.what();
        EXPECT_EQ(text.find("x.pack: "), 0u) << text;
        EXPECT_NE(text.find(words), std::string::npos) << text;
        EXPECT_NE(text.find("; "), std::string::npos) << "does not say what to do: " << text;
    }
}

// The bytes with a checksum that fits them.
std::string sealed(std::string bytes)
{
    bytes.resize(bytes.size() - sizeof(uint64_t));
    const uint64_t sum = checksum(bytes);
    return bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
}

TEST(Pack, what_is_no_packed_scene_is_refused)
{
    const std::string good = pack_scene(rich_scene(2));
    expect_refused("", "not a packed scene");
    expect_refused("tarn = 1\n", "not a packed scene");
    for (const size_t n : {size_t{8}, size_t{13}, good.size() / 2, good.size() - 1})
        expect_refused(good.substr(0, n), "cut short");
    expect_refused(good + "x", "damaged");
    std::string bad = good;
    bad[good.size() / 2] ^= 1;
    expect_refused(bad, "damaged");
    bad = good;
    bad[8] = 5;
    expect_refused(bad, "version 5");
}

TEST(Pack, what_is_malformed_inside_is_refused)
{
    const std::string good = pack_scene(rich_scene(2));
    // A name that no table knows.
    std::string bad = good;
    bad.replace(bad.find("viscosity"), 9, "viscidity");
    expect_refused(sealed(bad), "\"viscidity\"");
    // More bytes than the samples take, and fewer.
    expect_refused(sealed(good + "12345678"), "malformed");
    expect_refused(sealed(good.substr(0, good.size() - 8)), "malformed");
    // A value out of range: -1 frames per second.
    bad = good;
    const size_t rate = bad.find("rate") + 4 + sizeof(int32_t);
    bad[rate + 7] ^= '\x80';
    expect_refused(sealed(bad), "time.rate");

    // Whatever is changed, it is refused or read, and nothing breaks.
    for (size_t i = pack_magic.size() + 4; i < good.size() - 8; i += i < 4000 ? 1 : 997)
        for (const char c : {'\0', '\x7f', '\xff'}) {
            bad = good;
            bad[i] = c;
            try {
                unpack_scene(sealed(bad), "x.pack");
            } catch (const InputError&) {
            }
        }
}

}  // namespace
}  // namespace tarn
