#include "tarn/output/line_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tarn/base/error.h"

namespace tarn {

namespace {

[[noreturn]] void fail(const std::string& path)
{
    throw RunError(path + ": cannot be written: " + std::strerror(errno));
}

}  // namespace

LineFile::LineFile(const std::string& path) : path_(path)
{
    fd_ = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) fail(path);
}
LineFile::~LineFile()
{
    if (fd_ >= 0) close(fd_);
}
LineFile::LineFile(LineFile&& other) noexcept { *this = std::move(other); }
LineFile& LineFile::operator=(LineFile&& other) noexcept
{
    std::swap(path_, other.path_);
    std::swap(fd_, other.fd_);
    return *this;
}

void LineFile::add(const std::string& line)
{
    const std::string text = line + '\n';
    for (size_t done = 0; done < text.size();) {
        const ssize_t n = write(fd_, text.data() + done, text.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail(path_);
        done += size_t(n);
    }
}

bool LineFile::lock() { return flock(fd_, LOCK_EX | LOCK_NB) == 0; }

}  // namespace tarn
