// A checkpoint is, little-endian throughout:
//   Header            which grid, when, and how long the payload is
//   payload           phi, then each velocity component, then pressure, padding included; the columns of
//                     particles; what each body of water should hold, and what of it drops brought, as halves of 64-bit
//                     numbers, and each cell's body; the gradients that CIP carries, of phi and of each velocity
//                     component; the debt where volume is carried; the columns of droplets and bubbles, and what they
//                     were given; the cells of small pockets, which pocket each is in, and the air it holds; what sources
//                     have yet to give; the state of rigid bodies; everything as packed 32-bit words
//   checksum          64 bits over header and payload
// A field is packed by folding runs of equal words: the air (phi clamped to the band, velocity zero) and deep water
// are most of a domain, while anything cleverer would cost more time than the disk. Every bit comes back, signed zeros
// and NaNs included, because words are compared and not numbers.

#include "tarn/output/checkpoint.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "tarn/backend/parallel.h"
#include "tarn/base/checksum.h"
#include "tarn/base/error.h"
#include "tarn/output/files.h"
#include "tarn/params/tables.h"

namespace tarn {

namespace {

static_assert(std::endian::native == std::endian::little, "checkpoints are written as they lie in memory");

constexpr char magic[8] = {'T', 'A', 'R', 'N', 'C', 'K', 'P', 'T'};
constexpr uint32_t version = 8;

struct Header {
    char magic[8];
    uint32_t version;
    int32_t dimension;
    int32_t cells[3];
    int32_t frame;
    double h, time, volume_expected, elsewhere, ahead;
    int64_t step;
    int64_t particles, bodies;
    int64_t labels;     // cells that tell their body: all, or none
    int64_t gradients;  // how many fields of them
    int64_t fragments;
    int64_t pockets;   // cells in them
    int64_t sources;
    int64_t rigid;     // bodies
    uint64_t payload;  // bytes
};
static_assert(sizeof(Header) == 152, "no padding, so that every byte of the header is defined and checked");

// Packed words: a count n > 0 is followed by n words as they are; n < 0 by one word that stands -n times.
constexpr size_t shortest_run = 8;
constexpr size_t longest_run = size_t{1} << 30;

void append_words(std::string& out, const void* words, size_t n)
{
    out.append(static_cast<const char*>(words), n * sizeof(uint32_t));
}

void pack(std::string& out, const float* values, size_t size)
{
    const auto word = [&](size_t i) { return std::bit_cast<uint32_t>(values[i]); };
    const auto flush_plain = [&](size_t from, size_t to) {
        for (; from < to; from += std::min(to - from, longest_run)) {
            const int32_t n = static_cast<int32_t>(std::min(to - from, longest_run));
            append_words(out, &n, 1);
            append_words(out, values + from, static_cast<size_t>(n));
        }
    };
    size_t plain = 0;  // start of the words not yet written
    for (size_t i = 0; i < size;) {
        size_t end = i + 1;
        while (end < size && end - i < longest_run && word(end) == word(i)) ++end;
        if (end - i >= shortest_run) {
            flush_plain(plain, i);
            const int32_t n = -static_cast<int32_t>(end - i);
            append_words(out, &n, 1);
            append_words(out, values + i, 1);
            plain = end;
        }
        i = end;
    }
    flush_plain(plain, size);
}

// Reads `size` values, or only checks that they are there where `values` is null. Returns false on malformed words.
bool unpack(std::string_view& in, float* values, size_t size)
{
    const auto take_word = [&](auto& to) {
        if (in.size() < sizeof(uint32_t)) return false;
        std::memcpy(&to, in.data(), sizeof(uint32_t));
        in.remove_prefix(sizeof(uint32_t));
        return true;
    };
    for (size_t done = 0; done < size;) {
        int32_t count = 0;
        if (!take_word(count) || count == 0) return false;
        const size_t n = static_cast<size_t>(count > 0 ? count : -int64_t{count});
        if (n > size - done) return false;
        if (count > 0) {
            if (in.size() < n * sizeof(float)) return false;
            if (values) std::memcpy(values + done, in.data(), n * sizeof(float));
            in.remove_prefix(n * sizeof(float));
        } else {
            uint32_t word = 0;
            if (!take_word(word)) return false;
            // A value already in place is left alone: untouched memory is zero and stays out of the resident set.
            for (size_t i = done; values && i < done + n; ++i)
                if (std::bit_cast<uint32_t>(values[i]) != word) values[i] = std::bit_cast<float>(word);
        }
        done += n;
    }
    return true;
}

// The fields of a checkpoint, in the order of the file.
template <int D, class WaterOrConst, class F>
void for_each_field(WaterOrConst& water, F&& f)
{
    f(water.phi);
    for (int a = 0; a < D; ++a) f(water.velocity[a]);
    f(water.pressure);
}

// What only some methods have, gradients, debt and acceleration, in the order of the file.
template <int D, class WaterOrConst, class F>
void for_each_gradient(WaterOrConst& water, F&& f)
{
    for (int b = 0; b < D && water.phi_gradient.any(); ++b) f(water.phi_gradient.along[b]);
    for (int a = 0; a < D; ++a)
        for (int b = 0; b < D && water.velocity_gradient[a].any(); ++b) f(water.velocity_gradient[a].along[b]);
    if (water.debt.size() > 0) f(water.debt);
    for (int a = 0; a < D && water.acceleration[a].size() > 0; ++a) f(water.acceleration[a]);
}
template <int D>
int64_t gradients_of(const Water<D>& water)
{
    int64_t n = 0;
    for_each_gradient<D>(water, [&](const Field<D>&) { ++n; });
    return n;
}

std::vector<double> numbers_of(const Exchange& e)
{
    return {e.volume, e.momentum[0], e.momentum[1], e.momentum[2], e.gravity[0], e.gravity[1], e.gravity[2], e.next_id};
}
Exchange exchange_from(const std::vector<double>& v) { return {v[0], {v[1], v[2], v[3]}, {v[4], v[5], v[6]}, v[7]}; }

// The words of one field or list, as the program sees them.
void pack_from(std::string& out, const float* values, size_t n, Where where)
{
    if (!on_device() || where == Where::program) return pack(out, values, n);
    Memory<float> read(n, Where::program);
    backend::copy(read.data(), values, n * sizeof(float));
    pack(out, read.data(), n);
}
void unpack_to(std::string_view& in, float* values, size_t n)
{
    if (!on_device()) return void(unpack(in, values, n));
    Memory<float> read(n, Where::program);
    unpack(in, read.data(), n);
    backend::copy(values, read.data(), n * sizeof(float));
}

template <int N>
void pack_columns(std::string& out, const Columns<N>& list)
{
    for (int n = 0; n < N; ++n) pack_from(out, list.column(n), static_cast<size_t>(list.count()), list.where());
}
template <int N>
void unpack_columns(std::string_view& in, Columns<N>& list, int count)
{
    list.resize(count);
    for (int n = 0; n < N; ++n) unpack_to(in, list.column(n), static_cast<size_t>(count));
}

// Words are packed as floats of the same bits.
std::vector<float> as_words(const std::vector<double>& values)
{
    std::vector<float> words(2 * values.size());
    if (!values.empty()) std::memcpy(words.data(), values.data(), values.size() * sizeof(double));
    return words;
}
std::vector<double> from_words(const std::vector<float>& words)
{
    std::vector<double> values(words.size() / 2);
    if (!values.empty()) std::memcpy(values.data(), words.data(), values.size() * sizeof(double));
    return values;
}

// The header of a checkpoint that is whole.
Header read_header(const std::string& path, const std::string& bytes)
{
    const auto torn = [&](const char* what) {
        return RunError(path + ": " + what + "; delete it and resume from an older checkpoint");
    };
    Header header;
    if (bytes.size() < sizeof header + sizeof(uint64_t)) throw torn("too short for a checkpoint");
    std::memcpy(&header, bytes.data(), sizeof header);
    if (std::memcmp(header.magic, magic, sizeof magic) != 0) throw torn("not a checkpoint");
    if (header.version != version)
        throw RunError(path + ": a checkpoint of version " + std::to_string(header.version) +
                       ", but this program reads version " + std::to_string(version) + "; run again from the start");
    if (bytes.size() - sizeof header - sizeof(uint64_t) != header.payload)
        throw torn("the file is cut short or damaged");
    uint64_t sum = 0;
    std::memcpy(&sum, bytes.data() + bytes.size() - sizeof sum, sizeof sum);
    const std::string_view summed(bytes.data(), bytes.size() - sizeof sum);
    if (checksum(summed) != sum) throw torn("damaged: its checksum does not match");
    return header;
}

}  // namespace

template <int D>
void save_checkpoint(const std::string& path, const Water<D>& water, int frame)
{
    Header header{};
    std::memcpy(header.magic, magic, sizeof magic);
    header.version = version;
    header.dimension = D;
    for (int a = 0; a < 3; ++a) header.cells[a] = a < D ? water.grid.cells[a] : 1;
    header.frame = frame;
    header.h = water.grid.h;
    header.time = water.time;
    header.volume_expected = water.volume_expected;
    header.ahead = water.ahead;
    header.step = water.step;
    header.particles = water.particles.count();
    header.bodies = static_cast<int64_t>(water.ledger.expected.size());
    header.elsewhere = water.ledger.elsewhere;
    header.labels = static_cast<int64_t>(water.ledger.body.size());
    header.gradients = gradients_of(water);
    header.fragments = water.fragments.count();
    header.pockets = static_cast<int64_t>(water.enclosed_air.cells.size());
    header.sources = static_cast<int64_t>(water.flows.due.size());
    header.rigid = static_cast<int64_t>(water.bodies.size());

    std::string bytes(sizeof header, '\0');
    for_each_field<D>(water, [&](const Field<D>& f) { pack_from(bytes, f.data(), f.size(), f.where()); });
    pack_columns(bytes, water.particles);
    const std::vector<float> halves = as_words(water.ledger.expected);
    pack(bytes, halves.data(), halves.size());
    pack_from(bytes, reinterpret_cast<const float*>(water.ledger.body.data()), water.ledger.body.size(),
              water.ledger.body.where());
    for_each_gradient<D>(water, [&](const Field<D>& f) { pack_from(bytes, f.data(), f.size(), f.where()); });
    pack_columns(bytes, water.fragments);
    const std::vector<float> given = as_words(numbers_of(water.exchange));
    pack(bytes, given.data(), given.size());
    for (const std::vector<int>* list : {&water.enclosed_air.cells, &water.enclosed_air.regions})
        pack(bytes, reinterpret_cast<const float*>(list->data()), list->size());
    pack(bytes, water.enclosed_air.volumes.data(), water.enclosed_air.volumes.size());
    const std::vector<float> due = as_words(water.flows.due);
    pack(bytes, due.data(), due.size());
    const std::vector<float> rigid = as_words(numbers_of(water.bodies));
    pack(bytes, rigid.data(), rigid.size());
    header.payload = bytes.size() - sizeof header;
    std::memcpy(bytes.data(), &header, sizeof header);
    const uint64_t sum = checksum(bytes);
    bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
    write_file(path, bytes);
}

template <int D>
int load_checkpoint(const std::string& path, Water<D>& water)
{
    const std::string bytes = read_file(path);
    const auto torn = [&](const char* what) {
        return RunError(path + ": " + what + "; delete it and resume from an older checkpoint");
    };

    const std::string_view summed(bytes.data(), bytes.size() - std::min(bytes.size(), sizeof(uint64_t)));
    const Header header = read_header(path, bytes);
    bool same_grid = header.dimension == D && header.h == water.grid.h;
    for (int a = 0; same_grid && a < D; ++a) same_grid = header.cells[a] == water.grid.cells[a];
    if (!same_grid) {
        std::string cells;
        for (const int32_t n : header.cells) cells += (cells.empty() ? "" : " x ") + std::to_string(n);
        throw RunError(path + ": made for " + cells + " cells of " + number_text(header.h) + " m in " +
                       std::to_string(header.dimension) +
                       "D, which is not this scene's grid; run again from the start or restore the scene");
    }

    // First only look, so that a file which is refused leaves the water as it was.
    std::string_view payload = summed.substr(sizeof header), look = payload;
    for_each_field<D>(water, [&](Field<D>& f) {
        if (!unpack(look, nullptr, f.size())) throw torn("damaged: a field does not fill the grid");
    });
    const auto look_for = [&](int64_t n, int columns, const char* what) {
        bool there = n >= 0 && n <= INT32_MAX;
        for (int c = 0; there && c < columns; ++c) there = unpack(look, nullptr, static_cast<size_t>(n));
        if (!there) throw torn(what);
    };
    look_for(header.particles, Particles<D>::columns, "damaged: particles are missing");
    look_for(2 * header.bodies, 1, "damaged: bodies are missing");
    if (header.labels != 0 && header.labels != water.grid.storage()) throw torn("damaged: bodies do not fill the grid");
    look_for(header.labels, 1, "damaged: bodies do not fill the grid");
    if (header.gradients != gradients_of(water))
        throw RunError(path +
                       ": made with another way to carry phi or the velocity; run again from the start or restore " +
                       "surface.advection and method.advection");
    look_for(water.grid.storage(), static_cast<int>(header.gradients), "damaged: gradients do not fill the grid");
    look_for(header.fragments, Fragments<D>::columns, "damaged: droplets and bubbles are missing");
    look_for(2 * exchange_numbers, 1, "damaged: what droplets and bubbles were given is missing");
    look_for(header.pockets, 3, "damaged: enclosed air is missing");
    look_for(2 * header.sources, 1, "damaged: what sources have yet to give is missing");
    if (header.sources != static_cast<int64_t>(water.flows.due.size()))
        throw RunError(path + ": made with another number of sources; run again from the start or restore them");
    look_for(2 * rigid_state_numbers * header.rigid, 1, "damaged: rigid bodies are missing");
    if (header.rigid != static_cast<int64_t>(water.bodies.size()))
        throw RunError(path + ": made with another number of bodies; run again from the start or restore them");
    if (!look.empty()) throw torn("damaged: there is more than fields, particles, bodies, enclosed air and sources");
    for_each_field<D>(water, [&](Field<D>& f) { unpack_to(payload, f.data(), f.size()); });
    unpack_columns(payload, water.particles, static_cast<int>(header.particles));
    std::vector<float> halves(2 * static_cast<size_t>(header.bodies));
    (void)unpack(payload, halves.data(), halves.size());
    water.ledger.expected = from_words(halves);
    water.ledger.elsewhere = header.elsewhere;
    if (header.labels > 0) {
        if (water.ledger.body.size() == 0) water.ledger.body = Field<D, int>(water.grid);
        unpack_to(payload, reinterpret_cast<float*>(water.ledger.body.data()), water.ledger.body.size());
    }

    for_each_gradient<D>(water, [&](Field<D>& f) { unpack_to(payload, f.data(), f.size()); });
    unpack_columns(payload, water.fragments, static_cast<int>(header.fragments));
    std::vector<float> given(2 * exchange_numbers);
    (void)unpack(payload, given.data(), given.size());
    water.exchange = exchange_from(from_words(given));
    const size_t pockets = static_cast<size_t>(header.pockets);
    for (std::vector<int>* list : {&water.enclosed_air.cells, &water.enclosed_air.regions}) {
        list->resize(pockets);
        (void)unpack(payload, reinterpret_cast<float*>(list->data()), pockets);
    }
    water.enclosed_air.volumes.resize(pockets);
    (void)unpack(payload, water.enclosed_air.volumes.data(), pockets);
    std::vector<float> due(2 * static_cast<size_t>(header.sources));
    (void)unpack(payload, due.data(), due.size());
    water.flows.due = from_words(due);
    std::vector<float> rigid(static_cast<size_t>(2 * rigid_state_numbers * header.rigid));
    (void)unpack(payload, rigid.data(), rigid.size());
    set_numbers(water.bodies, from_words(rigid));

    water.time = header.time;
    water.step = static_cast<long>(header.step);
    water.volume_expected = header.volume_expected;
    water.ahead = header.ahead;
    return header.frame;
}

template void save_checkpoint<2>(const std::string&, const Water<2>&, int);
template void save_checkpoint<3>(const std::string&, const Water<3>&, int);
template int load_checkpoint<2>(const std::string&, Water<2>&);
template int load_checkpoint<3>(const std::string&, Water<3>&);

}  // namespace tarn
