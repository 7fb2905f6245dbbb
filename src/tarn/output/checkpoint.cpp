// A checkpoint is, little-endian throughout:
//   Header     which grid, which frame, and how long the payload is
//   payload    for each member of step/state.h, in its order, a Record and the member's 32-bit words, packed
//   checksum   64 bits over header and payload
// Words are packed by folding runs of equal ones: the air (phi clamped to the band, velocity zero) and deep water
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
#include "tarn/step/state.h"

namespace tarn {

namespace {

static_assert(std::endian::native == std::endian::little, "checkpoints are written as they lie in memory");

constexpr char magic[8] = {'T', 'A', 'R', 'N', 'C', 'K', 'P', 'T'};
constexpr uint32_t version = 10;

struct Header {
    char magic[8];
    uint32_t version;
    int32_t dimension;
    int32_t cells[3];
    int32_t frame;
    double h;
    uint64_t payload;  // bytes
};
static_assert(sizeof(Header) == 48, "no padding, so that every byte of the header is defined and checked");

struct Record {
    char name[24];  // padded with zeros
    int64_t words;  // before they are packed
};
static_assert(sizeof(Record) == 32, "no padding");

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

// Small members are packed by way of their words, as floats of the same bits.
template <class T>
std::vector<float> as_words(const std::vector<T>& values)
{
    std::vector<float> words(values.size() * sizeof(T) / sizeof(float));
    if (!values.empty()) std::memcpy(words.data(), values.data(), values.size() * sizeof(T));
    return words;
}
template <class T>
std::vector<T> from_words(const std::vector<float>& words)
{
    std::vector<T> values(words.size() * sizeof(float) / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), words.data(), values.size() * sizeof(T));
    return values;
}

std::vector<float> words_of(double x) { return as_words(std::vector<double>{x}); }
std::vector<float> words_of(long n) { return as_words(std::vector<int64_t>{n}); }
template <class T>
std::vector<float> words_of(const std::vector<T>& values)
{
    return as_words(values);
}
std::vector<float> words_of(const std::vector<RigidBody>& bodies) { return as_words(numbers_of(bodies)); }
std::vector<float> words_of(const Exchange& e)
{
    return as_words(std::vector<double>{e.volume, e.momentum[0], e.momentum[1], e.momentum[2], e.gravity[0], e.gravity[1],
                                        e.gravity[2], e.next_id});
}

void set_words(double& x, const std::vector<float>& words) { x = from_words<double>(words)[0]; }
void set_words(long& n, const std::vector<float>& words) { n = static_cast<long>(from_words<int64_t>(words)[0]); }
template <class T>
void set_words(std::vector<T>& values, const std::vector<float>& words)
{
    values = from_words<T>(words);
}
void set_words(std::vector<RigidBody>& bodies, const std::vector<float>& words)
{
    set_numbers(bodies, from_words<double>(words));
}
void set_words(Exchange& e, const std::vector<float>& words)
{
    const std::vector<double> v = from_words<double>(words);
    e = {v[0], {v[1], v[2], v[3]}, {v[4], v[5], v[6]}, v[7]};
}

// ---- A member to its packed words, and back ----

struct Packed {
    int64_t words = 0;
    std::string bytes;
};

template <int D, class T>
Packed packed(const Field<D, T>& f)
{
    static_assert(sizeof(T) == sizeof(float));
    Packed p{static_cast<int64_t>(f.size()), {}};
    if (p.words > 0) pack_from(p.bytes, reinterpret_cast<const float*>(f.data()), f.size(), f.where());
    return p;
}
template <ColumnList T>
Packed packed(const T& list)
{
    Packed p{int64_t{T::columns} * list.count(), {}};
    for (int n = 0; n < T::columns; ++n) pack_from(p.bytes, list.column(n), static_cast<size_t>(list.count()), list.where());
    return p;
}
template <class T>
Packed packed(const T& member)
{
    const std::vector<float> words = words_of(member);
    Packed p{static_cast<int64_t>(words.size()), {}};
    pack(p.bytes, words.data(), words.size());
    return p;
}

template <int D, class T>
void unpack_member(std::string_view& in, Field<D, T>& f, const Record& r, const Grid<D>& grid)
{
    if (r.words == 0) return;
    if (f.size() == 0) f = Field<D, T>(grid);
    unpack_to(in, reinterpret_cast<float*>(f.data()), f.size());
}
template <ColumnList T, int D>
void unpack_member(std::string_view& in, T& list, const Record& r, const Grid<D>&)
{
    list.resize(static_cast<int>(r.words / T::columns));
    for (int n = 0; n < T::columns; ++n) unpack_to(in, list.column(n), static_cast<size_t>(list.count()));
}
template <class T, int D>
void unpack_member(std::string_view& in, T& member, const Record& r, const Grid<D>&)
{
    std::vector<float> words(static_cast<size_t>(r.words));
    (void)unpack(in, words.data(), words.size());
    set_words(member, words);
}

// What stands against a member with so many words; nothing where it can be taken. Numbers of a fixed count are told by their type, and
// fields that only some methods have by the water that they are for.
constexpr const char* other_method = "made with another way to carry phi or the velocity; run again from the start or restore "
                                     "surface.advection and method.advection";
template <int D>
const char* refused(const Field<D>& f, int64_t words, const std::string&)
{
    if (words == static_cast<int64_t>(f.size())) return nullptr;
    return words == 0 || f.size() == 0 ? other_method : "damaged: a field does not fill the grid";
}
template <int D>
const char* refused(const Field<D, int>& labels, int64_t words, const std::string&)
{
    const bool fits = words == 0 || labels.size() == 0 || words == static_cast<int64_t>(labels.size());
    return fits ? nullptr : "damaged: labels do not fill the grid";
}
template <ColumnList T>
const char* refused(const T&, int64_t words, const std::string&)
{
    return words % T::columns != 0 || words / T::columns > INT32_MAX ? "damaged: particles are missing" : nullptr;
}
template <class T>
const char* refused(const T& member, int64_t words, const std::string& name)
{
    if (name == "flows.due" && words != static_cast<int64_t>(words_of(member).size()))
        return "made with another number of sources; run again from the start or restore them";
    if (name == "bodies" && words != static_cast<int64_t>(words_of(member).size()))
        return "made with another number of bodies; run again from the start or restore them";
    constexpr bool list = requires { member.size(); };
    return !list && words != static_cast<int64_t>(words_of(member).size()) ? "damaged: a number is missing" : nullptr;
}
template <class T>
constexpr int parts_of = 1;
template <ColumnList T>
constexpr int parts_of<T> = T::columns;

bool take_record(std::string_view& in, Record& r)
{
    if (in.size() < sizeof r) return false;
    std::memcpy(&r, in.data(), sizeof r);
    in.remove_prefix(sizeof r);
    return r.words >= 0 && r.name[sizeof r.name - 1] == '\0';
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

    std::string bytes(sizeof header, '\0');
    for_each_member<D>(
        [&](const std::string& name, const auto& member) {
            const Packed p = packed(member);
            Record r{};
            r.words = p.words;
            name.copy(r.name, sizeof r.name - 1);
            bytes.append(reinterpret_cast<const char*>(&r), sizeof r);
            bytes += p.bytes;
        },
        water);
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
    for_each_member<D>(
        [&](const std::string& name, const auto& member) {
            Record r;
            if (!take_record(look, r)) throw torn("damaged: members of the state are missing");
            if (name != r.name) throw torn(("damaged: it has " + std::string(r.name) + " in place of " + name).c_str());
            if (const char* why = refused(member, r.words, name)) throw RunError(path + ": " + why);
            constexpr int parts = parts_of<std::remove_cvref_t<decltype(member)>>;
            for (int n = 0; n < parts; ++n)
                if (!unpack(look, nullptr, static_cast<size_t>(r.words / parts))) throw torn(("damaged: of " + name + " words are missing").c_str());
        },
        water);
    if (!look.empty()) throw torn("damaged: there is more than a state");
    for_each_member<D>(
        [&](const std::string&, auto& member) {
            Record r;
            (void)take_record(payload, r);
            unpack_member(payload, member, r, water.grid);
        },
        water);
    return header.frame;
}

template <int D>
uint64_t state_hash(const Water<D>& water)
{
    uint64_t hash = 0;
    for_each_member<D>(
        [&](const std::string& name, const auto& member) {
            const std::string words = name + packed(member).bytes;
            const uint64_t sums[2] = {hash, checksum(words)};
            hash = checksum({reinterpret_cast<const char*>(sums), sizeof sums});
        },
        water);
    return hash;
}

template void save_checkpoint<2>(const std::string&, const Water<2>&, int);
template void save_checkpoint<3>(const std::string&, const Water<3>&, int);
template int load_checkpoint<2>(const std::string&, Water<2>&);
template int load_checkpoint<3>(const std::string&, Water<3>&);
template uint64_t state_hash<2>(const Water<2>&);
template uint64_t state_hash<3>(const Water<3>&);

}  // namespace tarn
