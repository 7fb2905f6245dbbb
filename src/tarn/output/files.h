#pragma once
// Files that are whole or not there: written under a temporary name, flushed, then renamed.

#include <string>
#include <string_view>

namespace tarn {

// Throws RunError naming the path and the system's reason (no space left on device, ...).
void write_file(const std::string& path, std::string_view bytes);
std::string read_file(const std::string& path);

// For libraries that insist on opening the file themselves: they write to part_name(path), then publish_file(path)
// flushes it to the disk and gives it its name. A part that is never published is removed by discard_part.
std::string part_name(const std::string& path);
void publish_file(const std::string& path);
void discard_part(const std::string& path) noexcept;

}  // namespace tarn
