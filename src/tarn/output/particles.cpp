#include "tarn/output/particles.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numbers>

#include <fmt/format.h>

#include "tarn/base/error.h"
#include "tarn/output/files.h"
#include "tarn/output/ply_file.h"

namespace tarn {

template <int D>
std::vector<Drop> drops_of(const Water<D>& water)
{
    const Spray<D>& spray = water.spray;
    const float h = static_cast<float>(water.grid.h);
    std::vector<Drop> drops(static_cast<size_t>(spray.count()));
    for (size_t i = 0; i < drops.size(); ++i) {
        Drop& drop = drops[i];
        for (int a = 0; a < D; ++a) {
            drop.position[a] = h * (spray.column(a)[i] + 0.5f);
            drop.velocity[a] = spray.column(D + a)[i];
        }
        const float volume = spray.column(2 * D)[i];
        constexpr float pi = std::numbers::pi_v<float>;
        drop.radius = h * (D == 3 ? std::cbrt(3 * volume / (4 * pi)) : std::sqrt(volume / pi));
        drop.age = spray.column(2 * D + 1)[i];
    }
    return drops;
}
template std::vector<Drop> drops_of(const Water<2>&);
template std::vector<Drop> drops_of(const Water<3>&);

namespace {

static_assert(sizeof(Drop) == 8 * sizeof(float), "a drop is written as it lies in memory");
constexpr std::string_view count_of = "\nelement vertex ";
constexpr std::string_view properties =
    "\nproperty float x\nproperty float y\nproperty float z\n"
    "property float vx\nproperty float vy\nproperty float vz\n"
    "property float radius\nproperty float age\nend_header\n";

}  // namespace

std::vector<Drop> read_particles(const std::string& path)
{
    const std::string bytes = read_file(path);
    const size_t count = bytes.find(count_of), body = bytes.find(properties);
    if (count == std::string::npos || body == std::string::npos)
        throw RunError(path + ": is no file of spray; run the scene again with this version");
    std::vector<Drop> drops(std::strtoull(bytes.c_str() + count + count_of.size(), nullptr, 10));
    if (bytes.size() != body + properties.size() + drops.size() * sizeof(Drop))
        throw RunError(path + ": is not whole; run the scene again");
    std::memcpy(static_cast<void*>(drops.data()), bytes.data() + body + properties.size(), drops.size() * sizeof(Drop));
    return drops;
}

void write_particles(const std::string& path, const std::vector<Drop>& drops)
{
    std::string bytes =
        fmt::format("ply\nformat binary_little_endian 1.0\ncomment Tarn {}: metres, y is up{}{}{}", TARN_VERSION,
                    count_of, drops.size(), properties);
    bytes.append(reinterpret_cast<const char*>(drops.data()), drops.size() * sizeof(Drop));
    write_file(path, bytes);
}

std::vector<Drop> read_particles(const std::string& path)
{
    const PlyFile file = read_ply_file(path);
    if (file.count("face") || file.count("edge") || file.body.size() != sizeof(Drop) * file.count("vertex"))
        throw InputError(path + ": holds no particles that Tarn wrote");
    std::vector<Drop> drops(file.count("vertex"));
    std::memcpy(drops.data(), file.body.data(), file.body.size());
    return drops;
}

}  // namespace tarn
