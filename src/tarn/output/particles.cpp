#include "tarn/output/particles.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>

#include <fmt/format.h>

#include "tarn/base/error.h"
#include "tarn/base/version.h"
#include "tarn/output/files.h"

namespace tarn {

namespace {

template <int D>
float radius_of(float volume, float h)
{
    constexpr float pi = std::numbers::pi_v<float>;
    return h * (D == 3 ? std::cbrt(3 * volume / (4 * pi)) : std::sqrt(volume / pi));
}

}  // namespace

template <int D>
std::vector<Drop> drops_of(const Droplets<D>& droplets, double cell, const DropletParams& params)
{
    const float h = static_cast<float>(cell);
    std::vector<Drop> drops;
    for (const Droplet<D>& f : read_fragments(droplets)) {
        Drop drop{};
        for (int a = 0; a < D; ++a) {
            drop.position[a] = h * static_cast<float>(f.x[a] + 0.5);
            drop.velocity[a] = static_cast<float>(f.u[a]);
        }
        drop.radius = radius_of<D>(static_cast<float>(f.volume), h);
        drop.age = static_cast<float>(f.age);
        drop.id = f.id;
        drop.kind = static_cast<int>(f.kind);
        drop.stretch = static_cast<float>(f.kind == DropletKind::foam ? 1 : 1 + params.stretch * length(f.u));
        drops.push_back(drop);
    }
    return drops;
}
template std::vector<Drop> drops_of(const Droplets<2>&, double, const DropletParams&);
template std::vector<Drop> drops_of(const Droplets<3>&, double, const DropletParams&);

template <int D>
std::vector<Droplet<D>> fragments_of(const std::vector<Drop>& drops, double h)
{
    constexpr double pi = std::numbers::pi;
    std::vector<Droplet<D>> list;
    for (const Drop& drop : drops) {
        Droplet<D> f;
        for (int a = 0; a < D; ++a) {
            f.x[a] = static_cast<double>(drop.position[a]) / h - 0.5;
            f.u[a] = drop.velocity[a];
        }
        const double r = drop.radius / h;
        f.volume = D == 3 ? 4 * pi / 3 * r * r * r : pi * r * r;
        f.age = drop.age;
        f.kind = static_cast<DropletKind>(drop.kind);
        f.id = drop.id;
        list.push_back(f);
    }
    return list;
}
template std::vector<Droplet<2>> fragments_of(const std::vector<Drop>&, double);
template std::vector<Droplet<3>> fragments_of(const std::vector<Drop>&, double);

namespace {

constexpr const char* properties =
    "property float x\nproperty float y\nproperty float z\n"
    "property float vx\nproperty float vy\nproperty float vz\n"
    "property float radius\nproperty float age\n"
    "property int id\nproperty int kind\nproperty float stretch\nend_header\n";

}  // namespace

template <class Point>
static void write_points(const std::string& path, const std::vector<Point>& points, const char* of_each)
{
    std::string bytes =
        fmt::format("ply\nformat binary_little_endian 1.0\ncomment Tarn {}: metres, y is up\nelement vertex {}\n{}",
                    version(), points.size(), of_each);
    bytes.append(reinterpret_cast<const char*>(points.data()), points.size() * sizeof(Point));
    write_file(path, bytes);
}

void write_particles(const std::string& path, const std::vector<Drop>& drops)
{
    static_assert(sizeof(Drop) == 11 * sizeof(float), "a drop is written as it lies in memory");
    write_points(path, drops, properties);
}

template <int D>
void write_vortices(const std::string& path, const Water<D>& water)
{
    struct Point {
        Vec3f position, strength;
        float radius, left;
    };
    static_assert(sizeof(Point) == 8 * sizeof(float), "a point is written as it lies in memory");
    VortexParticles<D> particles(Where::program);
    particles.copy(water.vortices.particles);
    const VortexView<D> p = particles.view();
    const float h = static_cast<float>(water.grid.h);
    std::vector<Point> points;
    for (int i = 0; i < particles.count(); ++i) {
        Point point{{}, p.turns(i), h * p.radius[i], p.left[i]};
        for (int a = 0; a < D; ++a) point.position[a] = h * (p.x[a][i] + 0.5f);
        points.push_back(point);
    }
    write_points(path, points,
                 "property float x\nproperty float y\nproperty float z\nproperty float sx\nproperty float sy\nproperty float sz\n"
                 "property float radius\nproperty float left\nend_header\n");
}
template void write_vortices(const std::string&, const Water<2>&);
template void write_vortices(const std::string&, const Water<3>&);

std::vector<Drop> read_particles(const std::string& path)
{
    const std::string bytes = read_file(path);
    const size_t vertex = bytes.find("element vertex "), header = bytes.find(properties);
    unsigned long count = 0;
    if (!bytes.starts_with("ply\nformat binary_little_endian 1.0\n") || vertex > header || header == std::string::npos ||
        std::sscanf(bytes.c_str() + vertex, "element vertex %lu", &count) != 1)
        throw RunError(path + ": holds no drops as Tarn writes them; make them again");
    const size_t begin = header + std::string(properties).size();
    if (count > bytes.size() || bytes.size() != begin + count * sizeof(Drop))
        throw RunError(path + ": cut short; make it again");
    std::vector<Drop> drops(count);
    std::memcpy(static_cast<void*>(drops.data()), bytes.data() + begin, count * sizeof(Drop));
    for (const Drop& drop : drops)
        if (drop.kind < 0 || drop.kind > static_cast<int>(DropletKind::foam))
            throw RunError(path + ": holds a drop of no known kind; make it again");
    return drops;
}

}  // namespace tarn
