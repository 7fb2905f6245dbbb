// A frame's file is, little-endian throughout: a Header, then a block for phi, one for each velocity component, one for the
// columns of droplets and bubbles and one for the pressure, which version 1 had not. Smoke is version 3: two more numbers at the header's end,
// and two more blocks, for density and temperature. Version 4 has the number and the columns of points that carry the surface, too. A block is
// its length, then what zlib made of it. Versions from 10 on are 8 more, and round phi to steps a quarter as large.
//
// Fields become whole numbers, padding included. Each is replaced by what differencing along x, y and z in turn leaves,
// the error of predicting it from its neighbours (Ibarria et al. 2003, Out-of-core Compression and Decompression of Large
// n-dimensional Scalar Fields): near zero where a field is smooth, and zero where it is constant. Low and high bytes
// then lie apart, so that zlib sees long runs.

#include "tarn/output/frame_state.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include <zlib.h>

#include "tarn/backend/parallel.h"
#include "tarn/base/error.h"
#include "tarn/field/sample.h"
#include "tarn/output/files.h"
#include "tarn/output/shown_levels.h"

namespace tarn {

namespace {

static_assert(std::endian::native == std::endian::little, "frames are written as they lie in memory");

constexpr char magic[8] = {'T', 'A', 'R', 'N', 'F', 'R', 'M', 'E'};
constexpr uint32_t state_version = 2, version_without_pressure = 1, version_with_smoke = 3, version_with_points = 4;
constexpr uint32_t version_with_finer_phi = 8;  // and one of those; without, phi has fewer steps
constexpr float phi_steps = 8192, coarse_phi_steps = 2048, phi_reach = 3;  // a cell, a cell, cells
constexpr float velocity_steps = 1024;           // up to the largest
constexpr float pressure_steps = 16384;          // up to the largest
constexpr float velocity_reach = 3;              // cells from the water, as a level set's volume has

struct Header {
    char magic[8];
    uint32_t version;
    int32_t dimension;
    int32_t cells[3];
    float velocity_step;  // m/s
    double h, time;
    int64_t droplets;
    double pressure_step;  // Pa; not in version 1
};
constexpr size_t header_without_pressure = 56;
static_assert(sizeof(Header) == 64, "no padding, so that every byte of the header is defined");

using Numbers = std::vector<uint16_t>;  // differences wrap around, and so do their sums

template <int D>
void take_differences(Numbers& q, const Grid<D>& grid)
{
    for (int a = 0; a < D; ++a) {
        const size_t back = static_cast<size_t>(grid.stride[a]);
        for (size_t i = q.size(); i-- > back;) q[i] = static_cast<uint16_t>(q[i] - q[i - back]);
    }
}
template <int D>
void add_differences(Numbers& q, const Grid<D>& grid)
{
    for (int a = D - 1; a >= 0; --a) {
        const size_t back = static_cast<size_t>(grid.stride[a]);
        for (size_t i = back; i < q.size(); ++i) q[i] = static_cast<uint16_t>(q[i] + q[i - back]);
    }
}

std::string squeezed(const std::string& raw)
{
    uLongf size = compressBound(raw.size());
    std::string packed(size, '\0');
    const int done = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                               reinterpret_cast<const Bytef*>(raw.data()), raw.size(), 1);
    TARN_CHECK_EQ(done, Z_OK);
    packed.resize(size);
    return packed;
}

// False where it is not as long as that, or damaged.
bool loosen(std::string_view block, std::string& raw)
{
    uLongf found = raw.size();
    const int done = uncompress(reinterpret_cast<Bytef*>(raw.data()), &found, reinterpret_cast<const Bytef*>(block.data()), block.size());
    return done == Z_OK && found == raw.size();
}

// Signs go into the lowest bit, so that numbers near zero have no high byte.
std::string bytes_of(const Numbers& q)
{
    std::string bytes(2 * q.size(), '\0');
    for (size_t i = 0; i < q.size(); ++i) {
        const auto folded = static_cast<uint16_t>((q[i] << 1) ^ (q[i] & 0x8000 ? 0xffff : 0));
        bytes[i] = static_cast<char>(folded & 0xff);
        bytes[q.size() + i] = static_cast<char>(folded >> 8);
    }
    return bytes;
}
Numbers numbers_of(const std::string& bytes)
{
    Numbers q(bytes.size() / 2);
    for (size_t i = 0; i < q.size(); ++i) {
        const unsigned folded = static_cast<uint8_t>(bytes[i]) | static_cast<uint8_t>(bytes[q.size() + i]) << 8;
        q[i] = static_cast<uint16_t>((folded >> 1) ^ (folded & 1 ? 0xffff : 0));
    }
    return q;
}

// A number stands for the middle of its step, so that no cell changes its side of the surface.
template <int D>
Numbers rounded_phi(const Water<D>& water)
{
    Numbers q(water.phi.size());
    const float scale = phi_steps / static_cast<float>(water.grid.h), most = phi_steps * phi_reach;
    const float* phi = water.phi.data();
    for (size_t i = 0; i < q.size(); ++i)
        q[i] = static_cast<uint16_t>(static_cast<int16_t>(std::floor(std::clamp(scale * phi[i], -most, most - 1))));
    return q;
}

// Whether a frame keeps the velocity of a face: it is that of water, or near it.
template <int D>
bool near_water(const float* phi, size_t i, size_t back, float reach)
{
    return phi[i] < reach || (i >= back && phi[i - back] < reach);
}

template <int D>
float largest_velocity(const Water<D>& water, float reach)
{
    float most = 0;
    for (int a = 0; a < D; ++a) {
        const Field<D>& u = water.velocity[a];
        const size_t back = static_cast<size_t>(water.grid.stride[a]);
        for (size_t i = 0; i < u.size(); ++i)
            if (near_water<D>(water.phi.data(), i, back, reach)) most = std::max(most, std::fabs(u.data()[i]));
    }
    return most;
}

template <int D>
Numbers rounded_velocity(const Water<D>& water, int axis, float step, float reach)
{
    const Field<D>& u = water.velocity[axis];
    Numbers q(u.size());
    const size_t back = static_cast<size_t>(water.grid.stride[axis]);
    for (size_t i = 0; i < q.size(); ++i)
        if (step > 0 && near_water<D>(water.phi.data(), i, back, reach))
            q[i] = static_cast<uint16_t>(static_cast<int16_t>(std::lround(u.data()[i] / step)));
    return q;
}

// Of smoke: parts of the largest.
template <int D>
Numbers rounded_values(const Field<D>& field, float step)
{
    Numbers q(field.size());
    for (size_t i = 0; i < q.size() && step > 0; ++i)
        q[i] = static_cast<uint16_t>(static_cast<int16_t>(std::lround(field.data()[i] / step)));
    return q;
}
template <int D>
float step_of_values(const Field<D>& field)
{
    float most = 0;
    for (size_t i = 0; i < field.size(); ++i) most = std::max(most, std::fabs(field.data()[i]));
    return most / pressure_steps;
}
// A field from its numbers.
template <int D>
Field<D> values_of(const Numbers& q, const Grid<D>& grid, double step)
{
    Field<D> field(grid, Where::program);
    for (size_t i = 0; i < q.size(); ++i) field.data()[i] = static_cast<int16_t>(q[i]) * static_cast<float>(step);
    return field;
}

template <int D>
bool has_pressure(const Water<D>& water, size_t i)
{
    return water.phi.data()[i] < 0 && water.pressure.data()[i] != 0;
}

template <int D>
float largest_pressure(const Water<D>& water)
{
    float most = 0;
    for (size_t i = 0; i < water.pressure.size(); ++i)
        if (has_pressure(water, i)) most = std::max(most, std::fabs(water.pressure.data()[i]));
    return most;
}

template <int D>
Numbers rounded_pressure(const Water<D>& water, float step)
{
    Numbers q(water.phi.size());
    for (size_t i = 0; i < water.pressure.size(); ++i) {
        if (!(step > 0) || !has_pressure(water, i)) continue;
        const float p = water.pressure.data()[i];
        const long n = std::lround(p / step);
        q[i] = static_cast<uint16_t>(static_cast<int16_t>(n != 0 ? n : p > 0 ? 1 : -1));
    }
    return q;
}

template <int N>
std::string bytes_of_columns(const Columns<N>& list)
{
    const size_t column = static_cast<size_t>(list.count()) * sizeof(float);
    std::string bytes(column * N, '\0');
    for (int n = 0; n < N; ++n) backend::copy(bytes.data() + static_cast<size_t>(n) * column, list.column(n), column);
    return bytes;
}
template <int N, class Bytes>
void read_columns(Columns<N>& list, int64_t count, const Bytes& bytes)
{
    list.resize(static_cast<int>(count));
    const size_t column = static_cast<size_t>(count) * sizeof(float);
    const std::string raw = bytes(column * N);
    for (int n = 0; n < N; ++n) backend::copy(list.column(n), raw.data() + static_cast<size_t>(n) * column, column);
}

}  // namespace

template <int D>
void write_state(const std::string& path, const Water<D>& water, bool points)
{
    const float reach = velocity_reach * static_cast<float>(water.grid.h);
    Header header{};
    std::memcpy(header.magic, magic, sizeof magic);
    header.version = (water.smoke ? version_with_smoke : points ? version_with_points : state_version) | version_with_finer_phi;
    header.dimension = D;
    for (int a = 0; a < 3; ++a) header.cells[a] = a < D ? water.grid.cells[a] : 1;
    header.velocity_step = largest_velocity(water, reach) / velocity_steps;
    header.h = water.grid.h;
    header.time = water.time;
    header.droplets = water.droplets.count();
    header.pressure_step = static_cast<double>(largest_pressure(water) / pressure_steps);

    const ShownSmoke<D> smoke(water);
    const double smoke_steps[2] = {water.smoke ? double(step_of_values(smoke.density())) : 0.0,
                                   water.smoke ? double(step_of_values(smoke.temperature())) : 0.0};
    std::vector<std::string> blocks(water.smoke ? D + 5 : points ? D + 4 : D + 3);
    parallel_rows("pack frame", water.smoke ? D + 4 : D + 2, [&](int n) {
        Numbers q = n == 0       ? rounded_phi(water)
                    : n == D + 1 ? rounded_pressure(water, static_cast<float>(header.pressure_step))
                    : n == D + 2 ? rounded_values(smoke.density(), static_cast<float>(smoke_steps[0]))
                    : n == D + 3 ? rounded_values(smoke.temperature(), static_cast<float>(smoke_steps[1]))
                                 : rounded_velocity(water, n - 1, header.velocity_step, reach);
        take_differences(q, water.grid);
        blocks[static_cast<size_t>(n > D ? n + 1 : n)] = squeezed(bytes_of(q));
    });
    blocks[D + 1] = squeezed(bytes_of_columns(water.droplets));
    if (points) {
        const uint64_t count = static_cast<uint64_t>(water.particles.count());
        blocks[D + 3].assign(reinterpret_cast<const char*>(&count), sizeof count);
        blocks[D + 3] += squeezed(bytes_of_columns(water.particles));
    }

    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    if (water.smoke) bytes.append(reinterpret_cast<const char*>(smoke_steps), sizeof smoke_steps);
    for (const std::string& block : blocks) {
        const uint64_t size = block.size();
        bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
        bytes += block;
    }
    write_file(path, bytes);
}

template <int D>
static bool is_sound(const Header& header)
{
    bool sound = header.dimension == D && header.h > 0 && header.droplets >= 0 && header.droplets <= INT32_MAX;
    double storage = 1;
    for (int a = 0; a < D; ++a) {
        sound = sound && header.cells[a] > 0;
        storage *= header.cells[a] + 2.0;
    }
    return sound && storage < 2147483648.0;
}

template <int D>
FrameState<D> read_state(const std::string& path)
{
    const std::string bytes = read_file(path);
    const auto fail = [&](const std::string& why) { throw RunError(path + ": " + why + "; run the scene again"); };
    Header header{};
    if (bytes.size() < header_without_pressure) fail("too short for a frame");
    std::memcpy(&header, bytes.data(), header_without_pressure);
    if (std::memcmp(header.magic, magic, sizeof magic) != 0) fail("holds no frame");
    const bool finer = (header.version & version_with_finer_phi) != 0;
    const uint32_t kind = header.version & ~version_with_finer_phi;
    const bool old = header.version == version_without_pressure, smoke = kind == version_with_smoke, points = kind == version_with_points;
    if (kind != state_version && !old && !smoke && !points) fail("a frame of version " + std::to_string(header.version));
    double steps[2] = {};  // of smoke
    const size_t head = old ? header_without_pressure : sizeof header + (smoke ? sizeof steps : 0);
    if (bytes.size() < head) fail("too short for a frame");
    if (!old) std::memcpy(&header, bytes.data(), sizeof header);
    if (smoke) std::memcpy(steps, bytes.data() + sizeof header, sizeof steps);
    if (!is_sound<D>(header)) fail("its header is damaged");

    FrameState<D> state;
    Cell<D> cells;
    for (int a = 0; a < D; ++a) cells[a] = header.cells[a];
    state.grid = Grid<D>(cells, header.h);
    state.time = header.time;
    state.phi = Field<D>(state.grid, Where::program);
    std::fill(state.phi.data(), state.phi.data() + state.phi.size(), outside);
    state.velocity = FaceField<D>(state.grid, Where::program);

    std::string_view left = std::string_view(bytes).substr(head);
    std::string_view blocks[D + 5];
    for (std::string_view& block : std::span(blocks, old ? D + 2 : smoke ? D + 5 : points ? D + 4 : D + 3)) {
        uint64_t size = 0;
        if (left.size() < sizeof size) fail("cut short");
        std::memcpy(&size, left.data(), sizeof size);
        left.remove_prefix(sizeof size);
        if (left.size() < size) fail("cut short");
        block = left.substr(0, size);
        left.remove_prefix(size);
    }
    const auto loosened = [&](std::string_view block, size_t size) {
        std::string raw(size, '\0');
        if (!loosen(block, raw)) fail("damaged");
        return raw;
    };
    const auto numbers = [&](int n) {
        Numbers q = numbers_of(loosened(blocks[n], 2 * static_cast<size_t>(state.grid.storage())));
        add_differences(q, state.grid);
        return q;
    };
    const Numbers phi = numbers(0);
    const float step = static_cast<float>(header.h) / (finer ? phi_steps : coarse_phi_steps);
    parallel_for("unpack frame", all_tiles(state.grid), [&](Cell<D> c) {
        const size_t i = static_cast<size_t>(state.grid.index(c));
        state.phi(c) = (static_cast<int16_t>(phi[i]) + 0.5f) * step;
    });
    for (int a = 0; a < D; ++a) {
        const Numbers u = numbers(a + 1);
        for (size_t i = 0; i < u.size(); ++i)
            state.velocity[a].data()[i] = static_cast<int16_t>(u[i]) * header.velocity_step;
    }
    state.any_pressure = !old && header.pressure_step > 0;
    state.pressure = Field<D>(state.grid, Where::program);
    if (state.any_pressure) state.pressure = values_of(numbers(D + 2), state.grid, header.pressure_step);
    if (smoke) state.smoke_density = values_of(numbers(D + 3), state.grid, steps[0]);
    if (smoke) state.temperature = values_of(numbers(D + 4), state.grid, steps[1]);
    read_columns(state.droplets, header.droplets, [&](size_t size) { return loosened(blocks[D + 1], size); });
    if (points) {
        uint64_t count = UINT64_MAX;
        if (blocks[D + 3].size() > sizeof count) std::memcpy(&count, blocks[D + 3].data(), sizeof count);
        if (count > uint64_t{INT32_MAX} / (D + 1)) fail("damaged");
        read_columns(state.points, int64_t(count), [&](size_t size) { return loosened(blocks[D + 3].substr(sizeof count), size); });
    }
    return state;
}

template <int D>
void load_state(const std::string& path, Water<D>& water)
{
    const FrameState<D> state = read_state<D>(path);
    if (!(state.grid.cells == water.grid.cells) || state.grid.h != water.grid.h)
        throw RunError(path + ": made on another grid than this scene's; run the scene again");
    if (!water.smoke) water.phi.copy(state.phi);
    for (int a = 0; a < D; ++a) water.velocity[a].copy(state.velocity[a]);
    water.droplets.copy(state.droplets);
    if (water.smoke != (state.smoke_density.size() > 0))
        throw RunError(path + ": made by another scene, with " + (water.smoke ? "water" : "smoke") + "; run the scene again");
    if (water.smoke) water.smoke_density.copy(state.smoke_density);
    if (water.smoke) water.temperature.copy(state.temperature);
    if (state.points.count() > 0) water.particles.copy(state.points);
    if (water.pressure.size() > 0 && state.pressure.size() > 0) water.pressure.copy(state.pressure);
    water.time = state.time;
}

Volume volume_of(const FrameState<3>& state)
{
    Volume volume{state.grid, state.time, {}, {}, {}};
    if (state.smoke_density.size() > 0) volume.density.resize(static_cast<size_t>(state.grid.count()));
    volume.phi.resize(static_cast<size_t>(state.grid.count()));
    volume.velocity.resize(volume.phi.size());
    const Cell<3> cells = state.grid.cells;
    const View<3, const float> phi = state.phi.view();
    const FaceView<3, const float> velocity = state.velocity.view();
    const float most = velocity_reach * static_cast<float>(state.grid.h);
    parallel_rows("gather cells", cells[1] * cells[2], [&](int row) {
        Cell<3> c{0, row % cells[1], row / cells[1]};
        for (size_t i = static_cast<size_t>(row) * static_cast<size_t>(cells[0]); c[0] < cells[0]; ++c[0], ++i) {
            volume.phi[i] = phi(c);
            if (!volume.density.empty()) volume.density[i] = state.smoke_density(c);
            if (phi(c) < most) volume.velocity[i] = velocity_at_cell(velocity, c);
        }
    });
    return volume;
}

template void write_state<2>(const std::string&, const Water<2>&, bool);
template void write_state<3>(const std::string&, const Water<3>&, bool);
template FrameState<2> read_state<2>(const std::string&);
template FrameState<3> read_state<3>(const std::string&);
template void load_state<2>(const std::string&, Water<2>&);
template void load_state<3>(const std::string&, Water<3>&);

}  // namespace tarn
