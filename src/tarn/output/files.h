#pragma once
// Files that are whole or not there: written under a temporary name, flushed, then renamed.

#include <string>
#include <string_view>

namespace tarn {

// Throws RunError naming the path and the system's reason (no space left on device, ...).
void write_file(const std::string& path, std::string_view bytes);
std::string read_file(const std::string& path);

}  // namespace tarn
