#pragma once

#include <string>

namespace tarn {

// `tarn bench [CASE]`: times the case, or every case where the name is empty, and leaves numbers in `results_dir`.
// `scenes` is the folder of example scenes.
int bench(const std::string& name, const std::string& results_dir, const std::string& scenes);

}  // namespace tarn
