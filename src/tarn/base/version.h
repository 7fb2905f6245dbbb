#pragma once
// Which Tarn this is, for files and messages; CMakeLists.txt says it.

namespace tarn {

const char* version();  // "1.2.3"

}  // namespace tarn
