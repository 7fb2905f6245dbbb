#include "tarn/output/finer.h"

#include "tarn/field/sample.h"
#include "tarn/step/foster_metaxas.h"
#include "tarn/surface/chains.h"
#include "tarn/surface/height_field.h"

namespace tarn {

namespace {

constexpr int finer_2d = 4, finer_3d = 2;  // cells along the side of a cell

// Phi beside obstacles goes on into them, so that no gap shows between whole cells and the solids' own surface.
void lead_into_walls(Field<2>& phi, const Labels<2>& labels, int times)
{
    const Cell<2> n = phi.grid().cells;
    const auto in_wall = [&](Cell<2> c) { return is_wall(labels({c[0] / times, c[1] / times})); };
    Field<2, uint8_t> known(phi.grid());
    for (int j = 0; j < n[1]; ++j)
        for (int i = 0; i < n[0]; ++i) known({i, j}) = !in_wall({i, j});
    for (int layer = 0; layer < 2 * times; ++layer) {
        std::vector<std::pair<Cell<2>, float>> found;
        for (int j = 0; j < n[1]; ++j)
            for (int i = 0; i < n[0]; ++i) {
                float sum = 0;
                int count = 0;
                for (int a = 0; a < 2 && !known({i, j}); ++a)
                    for (const int side : {-1, 1}) {
                        const Cell<2> beside = moved<2>({i, j}, a, side);
                        if (!phi.grid().contains(beside) || !known(beside)) continue;
                        sum += phi(beside);
                        ++count;
                    }
                if (count > 0) found.push_back({{i, j}, sum / static_cast<float>(count)});
            }
        for (const auto& [c, value] : found) {
            phi(c) = value;
            known(c) = 1;
        }
    }
}

template <int D>
void sample_velocity_and_solids(Water<D>& fine, const Water<D>& water, int times)
{
    const float per = 1.0f / static_cast<float>(times);
    for (int a = 0; a < D; ++a) {
        const auto to = fine.velocity[a].view();
        const auto from = water.velocity[a].view();
        const Cell<D> cells = water.grid.cells;
        parallel_for_faces("finer velocity", all_tiles(fine.grid), a, [=](Cell<D> c) {
            Vec<D, float> x = per * (c.template as<float>() + Vec<D, float>::all(0.5f));
            x[a] -= 0.5f * per;
            to(c) = sample_faces(from, cells, a, x - Vec<D, float>::all(0.5f));
        });
    }
    if (!water.solids.any) return;
    fine.solids.any = true;
    fine.solids.distance = Field<D>(fine.grid);
    const auto to = fine.solids.distance.view();
    const auto from = water.solids.distance.view();
    const Cell<D> cells = water.grid.cells;
    parallel_for_nodes("finer solids", all_tiles(fine.grid),
                       [=](Cell<D> c) { to(c) = sample(from, locate(from, per * c.template as<float>(), cells)); });
}

// Places and volumes are counted in cells.
template <int D>
void copy_drops(Droplets<D>& to, const Droplets<D>& from, int times)
{
    to.copy(from);
    const FragmentView<D> f = to.view();
    const float t = static_cast<float>(times), share = D == 2 ? t * t : t * t * t;
    for (int i = 0; i < to.count(); ++i) {
        for (int a = 0; a < D; ++a) f.x[a][i] = t * (f.x[a][i] + 0.5f) - 0.5f;
        f.volume[i] *= share;
    }
}

}  // namespace

bool keeps_points(const Params& params)
{
    return params.method.surface == SurfaceKind::marker_chains || params.method.surface == SurfaceKind::height_field;
}

template <int D>
std::optional<Water<D>> finer(const Water<D>& water, const Scene& scene)
{
    if (!keeps_points(scene.params) || water.particles.count() == 0) return {};
    const int times = D == 2 ? finer_2d : finer_3d;
    Cell<D> cells = water.grid.cells;
    for (int a = 0; a < D; ++a) cells[a] *= times;
    Water<D> fine;
    fine.grid = Grid<D>(cells, water.grid.h / times);
    fine.time = water.time;
    fine.phi = distance_field(fine.grid, 0);
    fine.velocity = FaceField<D>(fine.grid);
    sample_velocity_and_solids(fine, water, times);
    copy_drops(fine.droplets, water.droplets, times);
    const Labels<D> labels = foster_metaxas::cell_contents(water, scene);
    if (scene.params.method.surface == SurfaceKind::height_field)
        find_phi(fine.phi, read_heights<D>(water.particles, water.grid.cells), labels, times);
    if constexpr (D == 2)
        if (scene.params.method.surface == SurfaceKind::marker_chains) {
            Field<2> found(fine.grid);
            find_phi(found, read_chains(water.particles), labels, 3, times);
            lead_into_walls(found, labels, times);
            parallel_for("finer phi", all_tiles(fine.grid), [&](Cell<2> c) { fine.phi(c) = found(c); });
        }
    return fine;
}

FrameState<3> shown_state(Water<3>& water)
{
    FrameState<3> state;
    state.grid = water.grid;
    state.time = water.time;
    state.phi.swap(water.phi);
    state.velocity.swap(water.velocity);
    state.droplets.swap(water.droplets);
    return state;
}

template std::optional<Water<2>> finer(const Water<2>&, const Scene&);
template std::optional<Water<3>> finer(const Water<3>&, const Scene&);

}  // namespace tarn
