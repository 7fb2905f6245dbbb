#pragma once
// Help for a misspelt word: the nearest of those that would have been right.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace tarn {

// How many letters must be inserted, removed, replaced or swapped with their neighbour to get from a to b.
inline size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
    for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
    for (size_t i = 1; i <= a.size(); ++i)
        for (size_t j = 1; j <= b.size(); ++j) {
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.size()][b.size()];
}

// `did you mean "x"?` for the nearest candidate, or all of them where none is near.
inline std::string suggestion(std::string_view wrong, const std::vector<std::string>& candidates)
{
    const std::string* nearest = nullptr;
    size_t fewest = 0;
    if (wrong.size() < 60)
        for (const std::string& c : candidates) {
            const size_t n = edit_distance(wrong, c);
            if (n <= std::max<size_t>(2, c.size() / 3) && n < c.size() && (!nearest || n < fewest)) {
                nearest = &c;
                fewest = n;
            }
        }
    if (nearest) return "did you mean \"" + *nearest + "\"?";
    std::string list;
    for (const std::string& c : candidates) list += (list.empty() ? "" : ", ") + c;
    return list.empty() ? "no key belongs here" : "there are: " + list;
}

}  // namespace tarn
