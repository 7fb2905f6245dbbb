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
        if (!any() || (!water_.smoke && !(water_.phi(c) < 0))) return 0;
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
    // What sits at cells' centres, in all cells of the finest grid; memory is touched only where it is not zero.
    Field<D> cells(const Field<D>& finest, Field<D> CoarseLevel<D>::*larger) const
    {
        Field<D> all(water_.grid, Where::program);
        const View<D, const float> small = finest.view();
        const TileMap<D>& tiles = maps_[0];
        parallel_rows("show cells", static_cast<int>(tiles.flags.size()), [&](int n) {
            Box<D> box = tiles.box(tiles.tile(static_cast<size_t>(n)));
            const size_t level = static_cast<size_t>(level_at(box.lo));
            const float scale = 1.0f / static_cast<float>(1 << level);
            const Field<D>* const from = level > 0 ? &(water_.coarse[level - 1].*larger) : nullptr;
            Cell<D> c = box.lo;
            for (long left = box.volume(); left > 0; --left) {
                float value;
                if (from) {
                    Vec<D, float> x = c.template as<float>();
                    for (int a = 0; a < D; ++a) x[a] = scale * (x[a] + 0.5f) - 0.5f;
                    value = sample_cells(from->view(), from->grid().cells, x);
                } else {
                    value = small(c);
                }
                if (value != 0) all(c) = value;
                for (int a = 0; a < D; ++a) {
                    if (++c[a] < box.hi[a]) break;
                    c[a] = box.lo[a];
                }
            }
        });
        return all;
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

// The smoke of a domain in all cells of the finest grid.
template <int D>
class ShownSmoke {
public:
    explicit ShownSmoke(const Water<D>& water) : water_(water)
    {
        if (!water.smoke || water.coarse.empty()) return;
        const ShownLevels<D> levels(water);
        density_ = levels.cells(water.smoke_density, &CoarseLevel<D>::smoke_density);
        temperature_ = levels.cells(water.temperature, &CoarseLevel<D>::temperature);
    }
    const Field<D>& density() const { return density_.size() > 0 ? density_ : water_.smoke_density; }
    const Field<D>& temperature() const { return temperature_.size() > 0 ? temperature_ : water_.temperature; }

private:
    const Water<D>& water_;
    Field<D> density_, temperature_;
};

}  // namespace tarn
