#include "tarn/output/particles.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

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
std::vector<Drop> drops_of(const Fragments<D>& fragments, double cell, const FragmentParams& params)
{
    const float h = static_cast<float>(cell);
    std::vector<Drop> drops;
    for (const Fragment<D>& f : read_fragments(fragments)) {
        Drop drop{};
        for (int a = 0; a < D; ++a) {
            drop.position[a] = h * static_cast<float>(f.x[a] + 0.5);
            drop.velocity[a] = static_cast<float>(f.u[a]);
        }
        drop.radius = radius_of<D>(static_cast<float>(f.volume), h);
        drop.age = static_cast<float>(f.age);
        drop.id = f.id;
        drop.kind = static_cast<int>(f.kind);
        drop.stretch = static_cast<float>(f.kind == FragmentKind::foam ? 1 : 1 + params.stretch * length(f.u));
        drops.push_back(drop);
    }
    return drops;
}
template std::vector<Drop> drops_of(const Fragments<2>&, double, const FragmentParams&);
template std::vector<Drop> drops_of(const Fragments<3>&, double, const FragmentParams&);

void write_particles(const std::string& path, const std::vector<Drop>& drops)
{
    static_assert(sizeof(Drop) == 11 * sizeof(float), "a drop is written as it lies in memory");
    std::string bytes = fmt::format(
        "ply\nformat binary_little_endian 1.0\ncomment Tarn {}: metres, y is up\nelement vertex {}\n"
        "property float x\nproperty float y\nproperty float z\n"
        "property float vx\nproperty float vy\nproperty float vz\n"
        "property float radius\nproperty float age\n"
        "property int id\nproperty int kind\nproperty float stretch\nend_header\n",
        version(), drops.size());
    bytes.append(reinterpret_cast<const char*>(drops.data()), drops.size() * sizeof(Drop));
    write_file(path, bytes);
}

}  // namespace tarn
