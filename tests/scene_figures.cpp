// The commands of the pages: each names a scene that is there, and keys and values that it takes.

#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "tarn/base/error.h"
#include "tarn/scene/read.h"

namespace tarn {
namespace {

// The words of a command, as a shell parts them.
std::vector<std::string> words_of(const std::string& command)
{
    std::vector<std::string> words(1);
    bool quoted = false;
    for (const char c : command) {
        if (c == '"')
            quoted = !quoted;
        else if (c == ' ' && !quoted)
            words.emplace_back();
        else
            words.back() += c;
    }
    return words;
}

// Calls f with the scene and the settings of each `./tarn run` on a page, in backticks or on a line of its own.
template <class F>
int for_each_run(const std::string& page, const F& f)
{
    std::ifstream file(TARN_SOURCE_DIR "/docs/" + page);
    int count = 0;
    for (std::string line; std::getline(file, line);) {
        static const std::regex command("(?:`|^ {4})\\./tarn run ([^`#]+)");
        for (auto at = std::sregex_iterator(line.begin(), line.end(), command); at != std::sregex_iterator(); ++at) {
            const std::vector<std::string> words = words_of((*at)[1]);
            Overrides settings;
            for (size_t i = 1; i + 1 < words.size(); ++i)
                if (words[i] == "--set") settings.emplace_back(words[i + 1].substr(0, words[i + 1].find('=')), words[i + 1].substr(words[i + 1].find('=') + 1));
            if (!words[0].starts_with("scenes/")) continue;
            f((*at)[0].str(), TARN_SOURCE_DIR "/" + words[0], settings);
            ++count;
        }
    }
    return count;
}

TEST(Pages, commands_of_the_figures_name_scenes_and_settings_that_there_are)
{
    int count = 0;
    for (const char* page : {"figures.md", "presets.md", "octree.md", "tall_cells.md", "smoke.md", "foster_metaxas.md", "control.md", "bodies.md"})
        count += for_each_run(page, [&](const std::string& command, const std::string& scene, const Overrides& settings) {
            try {
                (void)read_scene(scene, settings);
            } catch (const InputError& e) {
                ADD_FAILURE() << page << ": " << command << "\n  " << e.what();
            }
        });
    EXPECT_GT(count, 40);
}

}  // namespace
}  // namespace tarn
