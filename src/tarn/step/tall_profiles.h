#pragma once
// Profiles of the velocity along columns, and the hat functions that they are made of.

#include <vector>

#include "tarn/grid/columns.h"

namespace tarn::tall {

// The rows of one face, or the links of one column, and their values.
struct Profile {
    const int* row = nullptr;
    const float* value = nullptr;
    int count = 0;

    // Linear between rows, constant beyond.
    float at_row(float y) const
    {
        if (y <= static_cast<float>(row[0])) return value[0];
        if (y >= static_cast<float>(row[count - 1])) return value[count - 1];
        int n = 0;  // tall cells come first
        while (static_cast<float>(row[n + 1]) <= y) ++n;
        const float t = (y - static_cast<float>(row[n])) / static_cast<float>(row[n + 1] - row[n]);
        return value[n] + t * (value[n + 1] - value[n]);
    }
    // Of links, between their middles; zero at the ground.
    float middle(int n) const { return 0.5f * static_cast<float>(row[n] + row[n + 1]); }
    float of_links(float y) const
    {
        int n = -1;
        while (n < count - 2 && middle(n + 1) <= y) ++n;
        if (n < 0) {
            const float ground = static_cast<float>(row[0]) - 0.5f, t = (y - ground) / (middle(0) - ground);
            return t > 0 ? t * value[0] : 0.0f;
        }
        if (n >= count - 2) return value[count - 2];
        const float t = (y - middle(n)) / (middle(n + 1) - middle(n));
        return value[n] + t * (value[n + 1] - value[n]);
    }
};

// From the sums over rows of a profile times the hat functions of `rows`, the values at these of the linear profile with the same sums: the
// nearest one in the sum of squares. The sum over all rows stays.   [IGLF06] (1)
inline void divide_by_hats(const std::vector<int>& rows, std::vector<double>& sums)
{
    const size_t n = rows.size();
    std::vector<double> diagonal(n, 0.0), off(n, 0.0);
    for (size_t m = 0; m + 1 < n; ++m) {
        const HatSums hats = hat_sums(rows[m + 1] - rows[m]);
        diagonal[m] += 1 + hats.lower;
        diagonal[m + 1] += hats.upper;
        off[m] = hats.both;
    }
    diagonal[n - 1] += 1;
    for (size_t m = 1; m < n; ++m) {
        const double w = off[m - 1] / diagonal[m - 1];
        diagonal[m] -= w * off[m - 1];
        sums[m] -= w * sums[m - 1];
    }
    for (size_t m = n; m-- > 0;) sums[m] = (sums[m] - (m + 1 < n ? off[m] * sums[m + 1] : 0.0)) / diagonal[m];
}

}  // namespace tarn::tall
