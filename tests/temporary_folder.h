#pragma once
// A folder that lives as long as a test.

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace tarn {

struct TemporaryFolder {
    std::string path;

    TemporaryFolder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "tarn_test_XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder");
        path = name;
    }
    ~TemporaryFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string operator/(const std::string& name) const { return path + "/" + name; }
};

}  // namespace tarn
