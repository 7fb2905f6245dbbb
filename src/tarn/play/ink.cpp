#include "tarn/play/ink.h"

#include <algorithm>
#include <cmath>

#include "tarn/backend/parallel.h"
#include "tarn/field/sample.h"

namespace tarn {

namespace {

// Catmull and Rom's cubic through four values at -1, 0, 1, 2.
inline float cubic(float a, float b, float c, float d, float t)
{
    return b + 0.5f * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

// Cubic along both axes; never beyond the four values around.
inline float sample_cubic(const View<2, const float>& f, Cell<2> cells, Vec<2, float> x)
{
    int at[2][4];
    float t[2];
    for (int a = 0; a < 2; ++a) {
        const int last = cells[a] - 1;
        const float p = std::clamp(x[a], 0.0f, static_cast<float>(last));
        const int i = std::min(static_cast<int>(p), last - 1);
        t[a] = p - static_cast<float>(i);
        for (int n = 0; n < 4; ++n) at[a][n] = std::clamp(i - 1 + n, 0, last);
    }
    float rows[4];
    for (int n = 0; n < 4; ++n) {
        const float* const row = &f(Cell<2>{0, at[1][n]});
        rows[n] = cubic(row[at[0][0]], row[at[0][1]], row[at[0][2]], row[at[0][3]], t[0]);
    }
    const float *const low = &f(Cell<2>{0, at[1][1]}), *const high = &f(Cell<2>{0, at[1][2]});
    const auto [least, most] = std::minmax({low[at[0][1]], low[at[0][2]], high[at[0][1]], high[at[0][2]]});
    return std::clamp(cubic(rows[0], rows[1], rows[2], rows[3], t[1]), least, most);
}

}  // namespace

Ink::Ink(const Grid<2>& grid) : next_(grid)
{
    for (Field<2>& dye : dye_) dye = Field<2>(grid);
}

void Ink::clear()
{
    for (Field<2>& dye : dye_) dye.fill(0);
    any_ = false;
}

void Ink::add(Cell<2> cell, const float (&color)[3], float share)
{
    for (int n = 0; n < 3; ++n) {
        float& dye = dye_[n](cell);
        dye += share * (1 - color[n] - dye);
    }
    any_ = true;
}

void Ink::advect(const FaceField<2>& velocity, double dt)
{
    if (!any_) return;
    const Grid<2> grid = next_.grid();
    const Tiles<2> tiles = all_tiles(grid);
    const auto u = velocity.view();
    const float s = static_cast<float>(dt / grid.h);
    float most = 0;
    for (Field<2>& dye : dye_) {
        const auto from = std::as_const(dye).view();
        const auto to = next_.view();
        parallel_for("ink", tiles, [=](Cell<2> c) {
            const Vec<2, float> x = c.as<float>();
            const Vec<2, float> half = x - 0.5f * s * velocity_at_cell(u, c);
            to(c) = sample_cubic(from, grid.cells, x - s * sample_velocity(u, grid.cells, half));
        });
        dye.swap(next_);
        const auto now = std::as_const(dye).view();
        most = std::max(most, static_cast<float>(parallel_max("ink", tiles, [=](Cell<2> c) { return now(c); })));
    }
    any_ = most > 1e-3f;
}

Ink Ink::on(const Grid<2>& grid) const
{
    Ink ink(grid);
    ink.any_ = any_;
    const Grid<2>& own = next_.grid();
    for (int n = 0; n < 3 && any_; ++n)
        for (int j = 0; j < grid.cells[1]; ++j)
            for (int i = 0; i < grid.cells[0]; ++i) {
                const Vec<2> x = (1 / own.h) * grid.centre(Cell<2>{i, j}) - Vec<2>::all(0.5);
                ink.dye_[n](Cell<2>{i, j}) = sample_cells(dye_[n].view(), own.cells, x.as<float>());
            }
    return ink;
}

void Ink::copy(const Ink& from)
{
    for (int n = 0; n < 3; ++n) dye_[n].copy(from.dye_[n]);
    any_ = from.any_;
}

}  // namespace tarn
