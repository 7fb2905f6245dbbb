// An .npz is a zip archive of .npy files, stored as they are. Sizes have 64 bits throughout (zip64), as numpy writes
// them itself.
//   https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//   https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3

#include "tarn/output/numpy.h"

#include <bit>
#include <cstdint>

#include <fmt/format.h>
#include <zlib.h>

#include "tarn/output/cell_values.h"
#include "tarn/output/files.h"
#include "tarn/surface/height_field.h"

namespace tarn {

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

template <class... Values>
void append(std::string& bytes, Values... values)
{
    (bytes.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
}

class Archive {
public:
    void add(const std::string& name, const std::string& content)
    {
        const uint64_t at = bytes_.size(), size = content.size();
        const uint32_t sum =
            static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const unsigned char*>(content.data()), content.size()));
        const auto length = static_cast<uint16_t>(name.size());
        // Version 4.5, no flags, stored, 1980-01-01, so that the same water gives the same bytes; sizes follow in the
        // extra field.
        append(bytes_, uint32_t{0x04034b50}, version, uint16_t{0}, uint16_t{0}, uint16_t{0}, uint16_t{0x21}, sum,
               elsewhere, elsewhere, length, uint16_t{20});
        bytes_ += name;
        append(bytes_, uint16_t{1}, uint16_t{16}, size, size);
        bytes_ += content;

        append(directory_, uint32_t{0x02014b50}, version, version, uint16_t{0}, uint16_t{0}, uint16_t{0},
               uint16_t{0x21}, sum, elsewhere, elsewhere, length, uint16_t{28}, uint16_t{0}, uint16_t{0}, uint16_t{0},
               uint32_t{0}, elsewhere);
        directory_ += name;
        append(directory_, uint16_t{1}, uint16_t{24}, size, size, at);
        ++entries_;
    }

    void write(const std::string& path)
    {
        const uint64_t at = bytes_.size(), size = directory_.size(), end = at + size;
        bytes_ += directory_;
        append(bytes_, uint32_t{0x06064b50}, uint64_t{44}, version, version, uint32_t{0}, uint32_t{0}, entries_,
               entries_, size, at);
        append(bytes_, uint32_t{0x07064b50}, uint32_t{0}, end, uint32_t{1});
        append(bytes_, uint32_t{0x06054b50}, uint16_t{0}, uint16_t{0}, static_cast<uint16_t>(entries_),
               static_cast<uint16_t>(entries_), elsewhere, elsewhere, uint16_t{0});
        write_file(path, bytes_);
    }

private:
    static constexpr uint16_t version = 45;
    static constexpr uint32_t elsewhere = 0xffffffff;  // the number has 64 bits and stands elsewhere
    std::string bytes_, directory_;
    uint64_t entries_ = 0;
};

// One .npy: the shape as Python writes a tuple; the first index varies fastest.
std::string array(const std::string& type, const std::string& shape, const void* values, size_t size)
{
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': True, 'shape': {}, }}", type, shape);
    header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
    header += '\n';
    std::string bytes = "\x93NUMPY\x01";
    append(bytes, uint8_t{0}, static_cast<uint16_t>(header.size()));
    bytes += header;
    bytes.append(static_cast<const char*>(values), size);
    return bytes;
}

std::string number(double value) { return array("<f8", "()", &value, sizeof value); }

}  // namespace

template <int D>
void write_npz(const std::string& path, const Water<D>& water)
{
    const CellValues values = cell_values(water);
    const std::string shape = fmt::format("{}", fmt::join(&water.grid.cells[0], &water.grid.cells[0] + D, ", "));
    std::vector<float> velocity;  // all of x, then all of y, ...
    for (int a = 0; a < D; ++a)
        for (const Vec3f& u : values.velocity) velocity.push_back(u[a]);

    Archive archive;
    const auto add = [&](const char* name, const std::vector<float>& f) {
        if (!f.empty()) archive.add(name, array("<f4", "(" + shape + ")", f.data(), sizeof(float) * f.size()));
    };
    add("phi.npy", values.phi);
    add("density.npy", values.density);
    add("temperature.npy", values.temperature);
    archive.add("velocity.npy",
                array("<f4", fmt::format("({}, {})", shape, D), velocity.data(), sizeof(float) * velocity.size()));
    add("pressure.npy", values.pressure);
    add("solid.npy", values.solid);
    archive.add("h.npy", number(water.grid.h));
    archive.add("time.npy", number(water.time));
    archive.write(path);
}

template <int D>
void write_heights_npz(const std::string& path, const Water<D>& water)
{
    const Heights<D> heights = read_heights<D>(water.particles, water.grid.cells);
    std::vector<float> metres;
    for (const double h : heights.values) metres.push_back(static_cast<float>(h * water.grid.h));
    const Cell<D> n = water.grid.cells;
    Archive archive;
    archive.add("height.npy", array("<f4", D == 3 ? fmt::format("({}, {})", n[0], n[D - 1]) : fmt::format("({},)", n[0]),
                                    metres.data(), sizeof(float) * metres.size()));
    archive.add("h.npy", number(water.grid.h));
    archive.add("time.npy", number(water.time));
    archive.write(path);
}

template void write_heights_npz<2>(const std::string&, const Water<2>&);
template void write_heights_npz<3>(const std::string&, const Water<3>&);
template void write_npz<2>(const std::string&, const Water<2>&);
template void write_npz<3>(const std::string&, const Water<3>&);

}  // namespace tarn
