#include "tarn/serve/server.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include <httplib.h>

#include "tarn/base/error.h"
#include "tarn/output/files.h"

namespace fs = std::filesystem;

namespace tarn {

namespace {

constexpr const char* loopback = "127.0.0.1";
// Each holds a connection for as long as it is open, and a browser opens six for a tab, on most of which it says nothing.
constexpr size_t connections = 64;

// A page may run its own WebAssembly and workers, and load nothing from elsewhere; no other site may frame or read it.
const httplib::Headers headers = {
    {"Content-Security-Policy",
     "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
     "worker-src 'self'; media-src 'self' blob:"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Embedder-Policy", "require-corp"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"X-Content-Type-Options", "nosniff"},
    {"Cache-Control", "no-cache"},
};

// A name that stands for this machine: others, looked up elsewhere, may lead a foreign page here.
bool is_local(const std::string& host)
{
    const std::string name = host.substr(0, host.rfind(':'));
    return host.empty() || name == loopback || name == "localhost";
}

}  // namespace

std::string content_type(const std::string& name)
{
    static const std::map<std::string, std::string> types = {
        {".html", "text/html; charset=utf-8"}, {".css", "text/css"},   {".js", "text/javascript"}, {".gz", "application/gzip"},
        {".toml", "text/plain; charset=utf-8"}, {".json", "application/json"}, {".png", "image/png"}, {".csv", "text/csv"},
        {".txt", "text/plain; charset=utf-8"}, {".mp4", "video/mp4"},
    };
    const auto found = types.find(fs::path(name).extension().string());
    return found == types.end() ? "application/octet-stream" : found->second;
}

ServedFiles files_of(const std::string& folder, size_t most)
{
    ServedFiles files;
    size_t bytes = 0;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
        if (entry.is_symlink() || !entry.is_regular_file()) continue;
        const std::string name = entry.path().lexically_relative(folder).generic_string();
        bytes += entry.file_size();
        if (bytes > most) throw InputError(folder + ": holds more than " + std::to_string(most) + " bytes");
        files["/" + name] = {read_file(entry.path()), content_type(name)};
    }
    if (error || files.empty()) throw InputError(folder + ": no files there to serve");
    return files;
}

struct Server::Held {
    httplib::Server server;
    ServedFiles files;
    std::vector<std::pair<std::string, Answer>> answers;
    std::mutex mutex;
    std::atomic<bool> serving = false;
    bool stopped = false;

    void answer(const httplib::Request& request, httplib::Response& response) const
    {
        if (!is_local(request.get_header_value("Host"))) {
            response.status = 403;
            return response.set_content("This server answers to 127.0.0.1 alone.\n", "text/plain");
        }
        const std::string path = request.path == "/" ? "/index.html" : request.path;
        if (const auto found = files.find(path); found != files.end())
            return response.set_content(found->second.bytes, found->second.type);
        for (const auto& [prefix, answer] : answers) {
            ServedFile file;
            if (path.rfind(prefix, 0) == 0 && answer(path.substr(prefix.size()), file))
                return response.set_content(file.bytes, file.type);
        }
        response.status = 404;
        response.set_content("There is no such file.\n", "text/plain");
    }
};

Server::Server(ServedFiles files) : held_(std::make_unique<Held>())
{
    held_->files = std::move(files);
    httplib::Server& server = held_->server;
    server.new_task_queue = [] { return new httplib::ThreadPool(connections); };
    server.set_default_headers(headers);
    server.set_payload_max_length(1 << 16);
    server.set_read_timeout(5, 0);
    server.set_write_timeout(10, 0);
    server.set_keep_alive_timeout(5);
    server.set_keep_alive_max_count(1000);
    server.set_tcp_nodelay(true);
    server.Get(".*", [this](const httplib::Request& request, httplib::Response& response) { held_->answer(request, response); });
    server.set_exception_handler([](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
        response.status = 500;
        response.set_content("Something went wrong here.\n", "text/plain");
    });
}

Server::~Server() { stop(); }

void Server::add(const std::string& prefix, Answer answer) { held_->answers.emplace_back(prefix, std::move(answer)); }

int Server::bind(int port)
{
    // A port that was just given up can be had again; but two servers never share one, as they would by httplib's own choice.
    held_->server.set_socket_options([](socket_t socket) {
        const int yes = 1;
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    if (port == 0) {
        port = held_->server.bind_to_any_port(loopback);
        if (port < 0) throw InputError("no port is free on " + std::string(loopback));
    } else if (!held_->server.bind_to_port(loopback, port)) {
        throw InputError("--port " + std::to_string(port) + ": cannot be had; leave --port away for a free one");
    }
    return port;
}

void Server::serve()
{
    {
        const std::lock_guard lock(held_->mutex);
        if (held_->stopped) return;
        held_->serving = true;
    }
    held_->server.listen_after_bind();
    held_->serving = false;
}

// httplib cannot be stopped before it listens, so that is waited for.
void Server::stop()
{
    {
        const std::lock_guard lock(held_->mutex);
        held_->stopped = true;
    }
    while (held_->serving && !held_->server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    held_->server.stop();
}

}  // namespace tarn
