// The server of pages: it gives what it was given, to this machine alone, whatever it is asked.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "tarn/base/error.h"
#include "tarn/serve/run_files.h"
#include "tarn/serve/server.h"
#include "temporary_folder.h"

using namespace tarn;

namespace {

// A server with two files, and what asks it.
class Serving : public testing::Test {
protected:
    Serving() : server_({{"/index.html", {"<p>home", "text/html"}}, {"/deep/page.js", {"1", "text/javascript"}}})
    {
        server_.add("/run/", [](const std::string& rest, ServedFile& file) {
            if (rest == "broken") throw std::runtime_error("broken");
            file = {"asked for " + rest, "text/plain"};
            return rest == "known";
        });
        port_ = server_.bind(0);
        thread_ = std::thread([this] { server_.serve(); });
    }
    ~Serving() override
    {
        hang_up();
        server_.stop();
        thread_.join();
    }

    void hang_up()
    {
        if (socket_ >= 0) close(socket_);
        socket_ = -1;
        rest_.clear();
    }

    void connect_again()
    {
        hang_up();
        socket_ = socket(AF_INET, SOCK_STREAM, 0);
        const timeval patience{20, 0};
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        const int yes = 1;
        setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(static_cast<uint16_t>(port_));
        inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
        ASSERT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    }

    bool read_more()
    {
        char bytes[4096];
        const ssize_t n = recv(socket_, bytes, sizeof bytes, 0);
        if (n > 0) rest_.append(bytes, static_cast<size_t>(n));
        return n > 0;
    }

    // The status of the answer, and its text in `body_`; 0 where the server hung up.
    int ask(const std::string& request)
    {
        if (socket_ < 0) connect_again();
        if (send(socket_, request.data(), request.size(), MSG_NOSIGNAL) < 0) return hang_up(), 0;
        size_t end;
        while ((end = rest_.find("\r\n\r\n")) == std::string::npos)
            if (!read_more()) return hang_up(), 0;
        const std::string head = rest_.substr(0, end);
        rest_.erase(0, end + 4);
        const size_t at = head.find("Content-Length: ");
        const size_t length = at == std::string::npos || request.rfind("HEAD", 0) == 0 ? 0 : std::stoul(head.substr(at + 16));
        while (rest_.size() < length)
            if (!read_more()) return hang_up(), 0;
        body_ = rest_.substr(0, length);
        rest_.erase(0, length);
        head_ = head;
        if (head.find("Connection: close") != std::string::npos) hang_up();
        return std::stoi(head.substr(9, 3));
    }

    int get(const std::string& path, const std::string& more = "")
    {
        return ask("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) + "\r\n" + more + "\r\n");
    }

    Server server_;
    int port_ = 0, socket_ = -1;
    std::thread thread_;
    std::string rest_, body_, head_;
};

}  // namespace

TEST_F(Serving, GivesWhatItWasGiven)
{
    EXPECT_EQ(get("/"), 200);
    EXPECT_EQ(body_, "<p>home");
    EXPECT_EQ(get("/deep/page.js?x=1#y"), 200);
    EXPECT_NE(head_.find("text/javascript"), std::string::npos);
    EXPECT_NE(head_.find("Cross-Origin-Opener-Policy: same-origin"), std::string::npos);
    EXPECT_EQ(get("/run/known"), 200);
    EXPECT_EQ(body_, "asked for known");
    EXPECT_EQ(get("/run/unknown"), 404);
    EXPECT_EQ(get("/run/broken"), 500);
    EXPECT_EQ(get("/nothing"), 404);
    EXPECT_EQ(ask("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 200);
}

TEST_F(Serving, NoPathLeadsOut)
{
    for (const char* path : {"/../index.html", "/deep/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
                             "//etc/passwd", "/deep/..\\..\\etc", "/etc/passwd", "/%00", "/deep/%2e", "/....//....//etc/passwd"})
        EXPECT_EQ(get(path), 404) << path;
}

TEST_F(Serving, OtherNamesAndVerbsAreRefused)
{
    EXPECT_EQ(ask("GET / HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n"), 403);
    EXPECT_EQ(ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi"), 404);
    connect_again();
    EXPECT_NE(ask("DELETE /index.html HTTP/1.1\r\nHost: localhost\r\n\r\n"), 200);
    connect_again();
    EXPECT_NE(ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\nhi"), 200);
    connect_again();
    EXPECT_EQ(get("/"), 200);
}

// A browser keeps up to six connections for each tab, and says nothing on most of them: they keep nobody waiting.
TEST_F(Serving, ManyTabsAreServedAtOnce)
{
    std::vector<int> idle;
    for (int n = 0; n < 24; ++n) {
        EXPECT_EQ(get("/"), 200);
        idle.push_back(socket_);
        socket_ = -1;
        rest_.clear();
    }
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_EQ(get("/"), 200);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
    for (const int socket : idle) close(socket);
}

// Every address of this machine but the loopback's is refused: nobody listens there.
TEST_F(Serving, ListensToTheLoopbackAlone)
{
    std::ifstream table("/proc/net/tcp");
    std::string line;
    char port[8];
    std::snprintf(port, sizeof port, ":%04X", port_);
    int listening = 0;
    while (std::getline(table, line)) {
        const size_t at = line.find(port);
        if (at == std::string::npos || at > 20 || line.find(" 0A ") == std::string::npos) continue;
        ++listening;
        EXPECT_EQ(line.substr(at - 8, 8), "0100007F") << line;
    }
    EXPECT_EQ(listening, 1);
}

TEST_F(Serving, ATakenPortIsRefused)
{
    Server second({{"/index.html", {"second", "text/html"}}});
    EXPECT_THROW(second.bind(port_), InputError);
}

TEST(ServedFiles, LinksAreLeftOut)
{
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.path + "/page/deep");
    std::ofstream(folder.path + "/secret") << "secret";
    std::ofstream(folder.path + "/page/deep/a.js") << "a";
    std::filesystem::create_symlink(folder.path + "/secret", folder.path + "/page/link");
    std::filesystem::create_directory_symlink(folder.path, folder.path + "/page/up");
    const ServedFiles files = files_of(folder.path + "/page", 100);
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(files.at("/deep/a.js").type, "text/javascript");
    EXPECT_THROW(files_of(folder.path + "/page", 0), InputError);
    EXPECT_THROW(files_of(folder.path + "/nothing", 100), InputError);
}

TEST(RunFiles, OnlyWhatRunsWriteIsSeen)
{
    const TemporaryFolder folder;
    const std::string run = folder / "runs/dam";
    std::filesystem::create_directories(run + "/surface");
    std::filesystem::create_directories(folder / "runs/other");
    for (const char* name : {"/run.json", "/secret.txt", "/surface/frame_0001.ply", "/surface/frame_1.ply"}) std::ofstream(run + name) << name;
    std::ofstream(folder / "outside.csv") << "secret";
    std::filesystem::create_symlink(folder / "outside.csv", run + "/stats.csv");
    std::filesystem::create_directory_symlink(folder / "runs", run + "/preview");
    const Server::Answer answer = run_files(runs_in(folder / "runs"));
    ServedFile file;
    EXPECT_TRUE(answer("runs.json", file));
    EXPECT_EQ(file.bytes, "[\"dam\"]");
    EXPECT_TRUE(answer("dam/run.json", file));
    EXPECT_TRUE(answer("dam/surface/frame_0001.ply", file));
    EXPECT_EQ(file.bytes, "/surface/frame_0001.ply");
    EXPECT_TRUE(answer("dam/frames.json", file));
    for (const char* path : {"dam/secret.txt", "dam/surface/frame_1.ply", "dam/stats.csv", "dam/preview/frame_0001.png", "dam/surface/../run.json",
                             "dam/../../outside.csv", "dam//run.json", "dam/", "dam", "", "other/run.json", "../runs/dam/run.json",
                             "dam/slice/phi/z/500/frame_0001.bin", "dam/slice/phi/z/99999/frame_0001.bin"})
        EXPECT_FALSE(answer(path, file)) << path;
    EXPECT_EQ(runs_in(run).size(), 1u);
    EXPECT_THROW(runs_in(folder / "nothing"), InputError);
}

// Requests that are torn, huge or nonsense, a hundred thousand of them: the server answers or hangs up, and lives.
TEST_F(Serving, SurvivesNonsense)
{
    std::mt19937 random(7);
    const auto any = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const std::string pieces[] = {"..", "/", "%2e", "%", "\\", "deep", "page.js", "index.html", "?", "#", "%00", "%c0%af", "~", "run", ";"};
    long answered = 0, outside = 0;
    for (int n = 0; n < 100000; ++n) {
        std::string path = "/";
        for (int k = any(8); k > 0; --k) path += pieces[any(15)];
        const int kind = any(1000);
        int status;
        if (kind < 990) {
            status = get(path);
        } else if (kind < 993) {
            std::string bytes;
            for (int k = any(200); k > 0; --k) bytes += static_cast<char>(any(256));
            status = ask(bytes + "\r\n\r\n\r\n");
            hang_up();
        } else if (kind < 995) {
            status = get("/" + std::string(static_cast<size_t>(any(20000)), 'a'));
        } else if (kind < 997) {
            status = get(path, "X-Long: " + std::string(static_cast<size_t>(any(20000)), 'b') + "\r\n");
        } else if (kind < 998) {
            status = get(path, "Range: bytes=" + std::to_string(any(100)) + "-" + std::to_string(any(5)) + "\r\n");
        } else {
            status = ask("GET " + path + " HTTP/" + std::to_string(any(9)) + ".x\r\nHost\r\n\r\n");
            hang_up();
        }
        answered += status > 0;
        outside += status == 200 && body_ != "<p>home" && body_ != "1" && !body_.empty();
    }
    EXPECT_GT(answered, 98000);
    EXPECT_EQ(outside, 0);
    connect_again();
    EXPECT_EQ(get("/"), 200);
}
