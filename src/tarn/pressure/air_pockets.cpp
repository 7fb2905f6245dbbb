#include "tarn/pressure/air_pockets.h"

#include <climits>
#include <utility>

#include "tarn/backend/parallel.h"
#include "tarn/surface/connected.h"

namespace tarn {

namespace {

// A pocket is small if it has no more cells than a ball of this radius, in cells.
constexpr float small_radius = 3;
template <int D>
constexpr int most_cells = D == 3 ? 113 : 28;

// The label of air that is no small pocket is lower than all, that of water is none.
constexpr int open_air = -1, no_air = INT_MAX;
// Once every cell points to its root, roots hold how many they are: this for one, and one less for each other.
constexpr int one_cell = -2;
constexpr int none = -1;  // in the list of cells

// The air in a cell, as far as it could be in a small pocket.
template <int D>
struct NearAir {
    View<D, const float> phi;
    Boundary<D> boundary;
    float deepest;  // in a small pocket

    TARN_HD bool operator()(int i) const { return phi[i] >= 0 && phi[i] < deepest; }
    // What a cell joins: nothing, itself or the open air, which is past open sides, along walls that the water leaves,
    // and in inlets.
    TARN_HD int start(Cell<D> c) const
    {
        const int i = phi.index(c);
        if (!(*this)(i)) return no_air;
        bool open = false, any = false;
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                Cell<D> face = c;
                face[a] += side;
                const int n = phi.next(a), other = side ? i + n : i - n;
                const bool joins = boundary.open_at(face, a) > 0, out = boundary.at_wall(face, a);
                any = any || joins;
                open = open || boundary.inlet_at(face, a) || (joins && (out || phi[other] >= deepest)) ||
                       (!out && boundary.solids && boundary.parted_from_solid(face, a));
            }
        return open ? open_air : any ? i : no_air;
    }
};

}  // namespace

template <int D>
bool AirPockets<D>::fill(Field<D>& phi, const Boundary<D>& boundary, const Tiles<D>& tiles, Field<D, int>& labels)
{
    const auto f = phi.view();
    const auto label = labels.view();
    const float h = static_cast<float>(phi.grid().h);
    const NearAir<D> air{f, boundary, (small_radius + 1) * h};
    parallel_for("air pockets", tiles, [=] TARN_KERNEL(Cell<D> c) { label(c) = air.start(c); });
    parallel_for("air pockets", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (!air(i) || atomic_load(label.data + i) == no_air) return;
        for (int a = 0; a < D; ++a) {
            const int j = i - label.next(a);
            if (c[a] == 0 || !air(j) || !(boundary.open_at(c, a) > 0)) continue;
            if (atomic_load(label.data + j) != no_air) unite(label.data, i, j);
        }
    });
    // What is in pockets of any size comes on a list, whose end counts it.
    count_ = static_cast<int>(parallel_sum("air pockets", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (!air(i) || atomic_load(label.data + i) == no_air) return 0.0;
        const int root = find_root(label.data, i);
        atomic_store(label.data + i, root);
        return root == open_air ? 0.0 : 1.0;
    }));
    if (count_ == 0) return false;
    int* const cells = room_for(cells_, count_ + 1);
    float* const before = room_for(phi_, count_);
    const int end = count_;
    parallel_range("air pockets", 1, [=] TARN_KERNEL(int) { cells[end] = 0; });
    parallel_for("air pockets", tiles, [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (air(i) && label[i] != no_air && label[i] != open_air) cells[atomic_add(cells + end, 1)] = i;
    });
    // Roots count their cells.
    parallel_range("air pockets", end, [=] TARN_KERNEL(int n) {
        if (label[cells[n]] == cells[n]) label[cells[n]] = one_cell;
    });
    parallel_range("air pockets", end, [=] TARN_KERNEL(int n) {
        const int root = label[cells[n]];
        if (root >= 0) atomic_add(label.data + root, -1);
    });
    parallel_range("air pockets", end, [=] TARN_KERNEL(int n) {
        const int i = cells[n], own = label[i], size = one_cell + 1 - (own < 0 ? own : label[own]);
        before[n] = f[i];
        if (size > most_cells<D>) cells[n] = none;
    });
    parallel_range("air pockets", end, [=] TARN_KERNEL(int n) {
        if (cells[n] != none) f[cells[n]] = -0.5f * h;
    });
    return true;
}

template <int D>
void AirPockets<D>::add_buoyancy(FaceField<D>& velocity, Vec<D> gravity, double dt) const
{
    const int* const cells = cells_.data();
    for (int a = 0; a < D; ++a) {
        // A face has half of its weight from the cell on each side.
        const float add = static_cast<float>(-0.5 * D * gravity[a] * dt);
        if (add == 0) continue;
        const auto u = velocity[a].view();
        for (int side = 0; side < 2; ++side) {
            const int next = side ? u.next(a) : 0;
            parallel_range("buoyancy", count_, [=] TARN_KERNEL(int n) {
                if (cells[n] != none) u[cells[n] + next] += add;
            });
        }
    }
}

template <int D>
void AirPockets<D>::empty(Field<D>& phi) const
{
    const auto f = phi.view();
    const int* const cells = cells_.data();
    const float* const before = phi_.data();
    parallel_range("air pockets", count_, [=] TARN_KERNEL(int n) {
        if (cells[n] != none) f[cells[n]] = before[n];
    });
}

template class AirPockets<2>;
template class AirPockets<3>;

}  // namespace tarn
