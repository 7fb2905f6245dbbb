#pragma once
// The PLY files that Tarn wrote, taken apart: their layout is known, their sizes are in the head.

#include <charconv>
#include <string>

#include "tarn/base/error.h"
#include "tarn/output/files.h"

namespace tarn {

struct PlyFile {
    std::string head, body;

    // How many of an element there are.
    size_t count(const std::string& element) const
    {
        const std::string line = "\nelement " + element + " ";
        const size_t at = head.find(line);
        size_t n = 0;
        if (at != std::string::npos) std::from_chars(head.data() + at + line.size(), head.data() + head.size(), n);
        return n;
    }
};

inline PlyFile read_ply_file(const std::string& path)
{
    constexpr const char* end = "end_header\n";
    PlyFile file{read_file(path), {}};
    const size_t at = file.head.find(end);
    if (!file.head.starts_with("ply\nformat binary_little_endian 1.0\ncomment Tarn ") || at == std::string::npos)
        throw InputError(path + ": is no PLY file that Tarn wrote");
    file.body = file.head.substr(at + std::string_view(end).size());
    file.head.resize(at);
    return file;
}

}  // namespace tarn
