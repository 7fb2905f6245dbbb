#pragma once
// Pages over HTTP, to this machine alone: bound to the loopback address, answering GET and HEAD, and only for what it was given
// beforehand. A path is looked up in a list, never on the disk, so none can lead out of it.

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace tarn {

struct ServedFile {
    std::string bytes, type;  // type: text/html, say
};
using ServedFiles = std::map<std::string, ServedFile>;  // by path, which begins with a slash

// Every plain file in a folder and those below it, links left out. Throws InputError where there is none, or they are more than
// `most` bytes in all.
ServedFiles files_of(const std::string& folder, size_t most);

// Of a file's name, by its ending.
std::string content_type(const std::string& name);

class Server {
public:
    explicit Server(ServedFiles files);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Paths that begin with `prefix` are answered by a function: nothing where it has no such file. It is called from several
    // threads at once.
    using Answer = std::function<bool(const std::string& rest, ServedFile& file)>;
    void add(const std::string& prefix, Answer answer);

    // Takes a port, a free one where it is 0, and tells which. Throws InputError where it cannot be had.
    int bind(int port);
    // Answers until stop() is called.
    void serve();
    void stop();

private:
    struct Held;
    std::unique_ptr<Held> held_;
};

}  // namespace tarn
