#pragma once

#include <string>

namespace tarn {

// A file that grows by whole lines, each handed to the system before add() returns, so that a killed program loses
// none.
class LineFile {
public:
    LineFile() = default;
    explicit LineFile(const std::string& path);
    ~LineFile();
    LineFile(LineFile&& other) noexcept;
    LineFile& operator=(LineFile&& other) noexcept;

    // Throws RunError when the line cannot be written.
    void add(const std::string& line);
    // False where another program holds the lock; it goes with the file.
    bool lock();

private:
    std::string path_;
    int fd_ = -1;
};

}  // namespace tarn
