#pragma once
// The cells of an octree for pictures and files, from the state alone, on the processor.

#include "tarn/backend/parallel.h"
#include "tarn/field/sample.h"
#include "tarn/step/water.h"

namespace tarn {

template <int D>
class ShownLevels {
public:
    explicit ShownLevels(const Water<D>& water) : water_(water)
    {
        if (water.coarse.empty()) return;
        size_t first = 0;
        Grid<D> grid = water.grid;
        for (size_t l = 0; l <= water.coarse.size(); ++l) {
            if (l > 0) grid = water.coarse[l - 1].pressure.grid();
            TileMap<D> map(grid);
            for (const int i : water.octree_tiles)
                if (static_cast<size_t>(i) >= first && static_cast<size_t>(i) < first + map.flags.size()) map.flags[static_cast<size_t>(i) - first] = 1;
            first += map.flags.size();
            maps_.push_back(std::move(map));
        }
    }

    bool any() const { return !maps_.empty(); }
    // Of the cell that holds one of the finest grid; 0 on a uniform grid, and where there is no water.
    int level_at(Cell<D> c) const
    {
        if (!any() || !(water_.phi(c) < 0)) return 0;
        for (size_t l = 0; l < maps_.size(); ++l) {
            Cell<D> tile;
            for (int a = 0; a < D; ++a) tile[a] = (c[a] >> l) / tile_size;
            if (maps_[l].flags[maps_[l].index(tile)]) return static_cast<int>(l);
        }
        return 0;
    }
    // At a position in cells of the finest grid.
    Vec<D, float> velocity_at(int level, Vec<D, float> x) const
    {
        if (level == 0) return sample_velocity(water_.velocity.view(), water_.grid.cells, x);
        const FaceField<D>& u = water_.coarse[static_cast<size_t>(level) - 1].velocity;
        const float scale = 1.0f / static_cast<float>(1 << level);
        for (int a = 0; a < D; ++a) x[a] = scale * (x[a] + 0.5f) - 0.5f;
        return sample_velocity(u.view(), u.grid().cells, x);
    }
    // The velocity on every face of the finest grid.
    FaceField<D> velocity() const
    {
        FaceField<D> all(water_.grid);
        const FaceView<D> to = all.view();
        for (int a = 0; a < D; ++a)
            parallel_for_faces("show velocity", all_tiles(water_.grid), a, [&](Cell<D> c) {
                Cell<D> cell = c;
                if (c[a] == water_.grid.cells[a]) --cell[a];
                const int level = level_at(cell);
                Vec<D, float> x = c.template as<float>();
                x[a] -= 0.5f;
                to[a](c) = level == 0 ? water_.velocity[a](c) : velocity_at(level, x)[a];
            });
        return all;
    }

private:
    const Water<D>& water_;
    std::vector<TileMap<D>> maps_;
};

}  // namespace tarn
