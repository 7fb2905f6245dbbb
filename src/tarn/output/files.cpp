#include "tarn/output/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "tarn/base/error.h"

namespace tarn {

namespace {

// An open file descriptor that is closed on every way out.
struct Descriptor {
    int fd;
    explicit Descriptor(int opened) : fd(opened) {}
    ~Descriptor()
    {
        if (fd >= 0) ::close(fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
};

[[noreturn]] void fail(const std::string& path, const char* verb, int reason)
{
    throw RunError(path + ": cannot " + verb + ": " + std::strerror(reason));
}

// A file system may accept a write and notice only later that it has no room: fsync is where it must confess.
void flush(int fd, const std::string& path)
{
    // Pipes and some mounted folders cannot be flushed and say so; nothing was lost then.
    if (::fsync(fd) != 0 && errno != EINVAL && errno != EROFS) fail(path, "write", errno);
}

}  // namespace

std::string part_name(const std::string& path) { return path + ".part"; }

void discard_part(const std::string& path) noexcept { ::unlink((path + ".part").c_str()); }

void publish_file(const std::string& path)
{
    const std::string part = part_name(path);
    try {
        {
            const Descriptor file(::open(part.c_str(), O_RDONLY | O_CLOEXEC));
            if (file.fd < 0) fail(path, "write", errno);
            flush(file.fd, path);
        }
        if (std::rename(part.c_str(), path.c_str()) != 0) fail(path, "write", errno);
    } catch (...) {
        discard_part(path);
        throw;
    }
    // The new name survives a power cut only when the folder has reached the disk too. The file is whole by now, so a
    // folder that cannot be opened is no reason to fail.
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const Descriptor opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.fd >= 0) ::fsync(opened.fd);
}

void write_file(const std::string& path, std::string_view bytes)
{
    try {
        const Descriptor file(::open(part_name(path).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                                     S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH));
        if (file.fd < 0) fail(path, "write", errno);
        for (size_t done = 0; done < bytes.size();) {
            const ssize_t n = ::write(file.fd, bytes.data() + done, bytes.size() - done);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) fail(path, "write", errno);
            done += static_cast<size_t>(n);
        }
    } catch (...) {
        discard_part(path);
        throw;
    }
    publish_file(path);
}

std::string read_file(const std::string& path)
{
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.fd < 0) fail(path, "read", errno);
    struct stat about {};
    if (::fstat(file.fd, &about) != 0) fail(path, "read", errno);

    // The size is only a first guess: a file may grow while it is read, and special files report none.
    std::string bytes;
    bytes.resize(static_cast<size_t>(about.st_size > 0 ? about.st_size : 0) + 1);
    size_t done = 0;
    for (;;) {
        if (done == bytes.size()) bytes.resize(2 * bytes.size());
        const ssize_t n = ::read(file.fd, bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail(path, "read", errno);
        if (n == 0) break;
        done += static_cast<size_t>(n);
    }
    bytes.resize(done);
    return bytes;
}

}  // namespace tarn
