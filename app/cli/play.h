#pragma once
// `tarn play`, `tarn view` and `tarn bench play`.

#include <filesystem>
#include <string>

namespace tarn {

struct PlayOptions {
    std::filesystem::path web;  // the folder of the page
    int port = 0;               // a free one where 0
    bool browser = true;        // open it
};

// Serves the playground until it is interrupted; its address is the first line.
int play(const PlayOptions& options);

// Serves a page that shows the run in a folder, or those below it.
int view(const PlayOptions& options, const std::string& folder);

// Times the playground natively, on one thread, and as WebAssembly under Node.js where both are there: milliseconds a step,
// their ratio, and how far phi is apart after 100 steps. `web` is the folder of the built page.
int bench_play(const std::filesystem::path& web, const std::filesystem::path& source, bool compare_only);

}  // namespace tarn
