#include "tarn/field/levels.h"

#include <utility>

#include "tarn/backend/parallel.h"
#include "tarn/field/sample.h"

namespace tarn {

namespace {

// The mean of the small faces under a large one.
template <int D>
inline float mean_below(const View<D, const float>& fine, Cell<D> c, int axis)
{
    for (int a = 0; a < D; ++a) c[a] *= 2;
    const int first = fine.index(c);
    float sum = 0;
    for (int n = 0; n < (1 << (D - 1)); ++n) {
        int i = first;
        for (int a = 0; a < D; ++a) i += (corner_of_face(n, axis) >> a & 1) * fine.next(a);
        sum += fine[i];
    }
    return sum * (D == 3 ? 0.25f : 0.5f);
}

// A fine position in the coarse level's cells.
template <int D>
inline Vec<D, float> in_coarse_cells(Vec<D, float> x)
{
    for (int a = 0; a < D; ++a) x[a] = 0.5f * (x[a] + 0.5f) - 0.5f;
    return x;
}

}  // namespace

template <int D>
void copy_to_small_faces(const LevelVelocities<D>& velocity, const Octree<D>& octree)
{
    for (int l = 1; l < octree.count(); ++l)
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                const std::vector<TFace>& faces = octree.levels[static_cast<size_t>(l)].faces[a][side];
                const auto coarse = std::as_const(*velocity[static_cast<size_t>(l)])[a].view();
                const auto fine = (*velocity[static_cast<size_t>(l) - 1])[a].view();
                parallel_range("T-faces", static_cast<int>(faces.size()), [&](int n) {
                    const TFace t = faces[static_cast<size_t>(n)];
                    const float u = coarse[side ? t.leaf + coarse.next(a) : t.leaf];
                    for (int k = 0; k < (1 << (D - 1)); ++k) {
                        int i = side ? t.child : t.child + fine.next(a);
                        for (int b = 0; b < D; ++b) i += (corner_of_face(k, a) >> b & 1) * fine.next(b);
                        fine[i] = u;
                    }
                });
            }
}

template <int D>
void restrict_faces(FaceField<D>& coarse, const FaceField<D>& fine, const Tiles<D>& tiles)
{
    for (int a = 0; a < D; ++a) {
        const auto to = coarse[a].view();
        const auto from = fine[a].view();
        parallel_for_faces("restrict velocity", tiles, a, [=](Cell<D> c) { to(c) = mean_below<D>(from, c, a); });
    }
}

template <int D>
void restrict_cells(Field<D>& coarse, const Field<D>& fine, const Tiles<D>& tiles)
{
    const auto to = coarse.view();
    const auto from = fine.view();
    parallel_for("restrict", tiles, [=](Cell<D> c) {
        float sum = 0;
        for (int n = 0; n < (1 << D); ++n) {
            Cell<D> child;
            for (int a = 0; a < D; ++a) child[a] = 2 * c[a] + (n >> a & 1);
            sum += from(child);
        }
        to(c) = sum / (1 << D);
    });
}

template <int D>
void restrict_to_parents(const LevelVelocities<D>& velocity, const Octree<D>& octree)
{
    for (int l = 1; l < octree.count(); ++l) {
        const size_t n = static_cast<size_t>(l);
        restrict_faces(*velocity[n], *velocity[n - 1], octree.levels[n].near_parents);
    }
}

template <int D>
void interpolate_faces(FaceField<D>& fine, const FaceField<D>& coarse, const Tiles<D>& tiles)
{
    const Cell<D> cells = coarse.grid().cells;
    for (int a = 0; a < D; ++a) {
        const auto to = fine[a].view();
        const auto from = coarse[a].view();
        parallel_for_faces("interpolate velocity", tiles, a, [=](Cell<D> c) {
            Vec<D, float> x = c.template as<float>();
            x[a] -= 0.5f;
            to(c) = sample_faces(from, cells, a, in_coarse_cells<D>(x));
        });
    }
}

template <int D>
void interpolate_cells(Field<D>& fine, const Field<D>& coarse, const Tiles<D>& tiles)
{
    const Cell<D> cells = coarse.grid().cells;
    const auto to = fine.view();
    const auto from = coarse.view();
    parallel_for("interpolate", tiles, [=](Cell<D> c) {
        to(c) = sample_cells(from, cells, in_coarse_cells<D>(c.template as<float>()));
    });
}

template <int D>
void fill_between(Field<D>& fine, const Field<D>& coarse, const Tiles<D>& tiles)
{
    const auto to = fine.view();
    const auto from = coarse.view();
    const Cell<D> cells = coarse.grid().cells;
    parallel_for("fill between", tiles, [=](Cell<D> c) {
        Cell<D> parent;
        for (int a = 0; a < D; ++a) parent[a] = c[a] >> 1;
        const int i = from.index(parent);
        float value = from[i];
        for (int a = 0; a < D; ++a) {
            if (parent[a] == 0 || parent[a] + 1 == cells[a]) continue;
            const float back = from[i] - from[i - from.next(a)], ahead = from[i + from.next(a)] - from[i];
            const float least = std::fabs(back) < std::fabs(ahead) ? back : ahead;
            if (back * ahead > 0) value += (c[a] & 1 ? 0.25f : -0.25f) * least;
        }
        to(c) = value;
    });
}

template <int D>
void fill_rims(const LevelVelocities<D>& velocity, const Octree<D>& octree)
{
    for (int l = octree.count() - 2; l >= 0; --l) {
        const size_t n = static_cast<size_t>(l);
        interpolate_faces(*velocity[n], *velocity[n + 1], octree.levels[n].rim);
    }
}

#define TARN_INSTANTIATE(D)                                                                        \
    template void copy_to_small_faces(const LevelVelocities<D>&, const Octree<D>&);                \
    template void restrict_faces(FaceField<D>&, const FaceField<D>&, const Tiles<D>&);             \
    template void restrict_cells(Field<D>&, const Field<D>&, const Tiles<D>&);                     \
    template void restrict_to_parents(const LevelVelocities<D>&, const Octree<D>&);                \
    template void interpolate_faces(FaceField<D>&, const FaceField<D>&, const Tiles<D>&);          \
    template void interpolate_cells(Field<D>&, const Field<D>&, const Tiles<D>&);                  \
    template void fill_between(Field<D>&, const Field<D>&, const Tiles<D>&);                       \
    template void fill_rims(const LevelVelocities<D>&, const Octree<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
