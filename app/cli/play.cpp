#include "play.h"

#include <csignal>
#include <cstdio>

#include <unistd.h>

#include <fmt/format.h>

#include "tarn/base/error.h"
#include "tarn/run/exit_code.h"
#include "tarn/serve/run_files.h"
#include "tarn/serve/server.h"

namespace fs = std::filesystem;

namespace tarn {
namespace {

// Far more than a page needs.
constexpr size_t most_bytes = size_t(64) << 20;

// Whatever opens pages here; where nothing does, the address is on the screen.
void open_browser(const std::string& address)
{
    std::signal(SIGCHLD, SIG_IGN);
    if (fork() != 0) return;
    (void)!std::freopen("/dev/null", "w", stdout);
    (void)!std::freopen("/dev/null", "w", stderr);
    execlp("xdg-open", "xdg-open", address.c_str(), nullptr);
    _exit(0);
}

// The address is the first line; then until Ctrl-C.
int serve(Server& server, const PlayOptions& options, const char* what)
{
    const std::string address = fmt::format("http://127.0.0.1:{}/", server.bind(options.port));
    fmt::print("{}\n{} is there until Ctrl-C.\n", address, what);
    std::fflush(stdout);
    if (options.browser) open_browser(address);
    server.serve();
    return exit_done;
}

}  // namespace

int play(const PlayOptions& options)
{
    if (!fs::exists(options.web / "tarn.wasm.gz"))
        throw InputError(fmt::format("{}: no playground is built there; the script ./tarn builds it: ./tarn play",
                                     options.web.string()));
    Server server(files_of(options.web, most_bytes));
    return serve(server, options, "The playground");
}

int view(const PlayOptions& options, const std::string& folder)
{
    Server server(files_of(options.web, most_bytes));
    server.add("/run/", run_files(runs_in(folder)));
    return serve(server, options, "The viewer");
}

}  // namespace tarn
