#include "tarn/surface/markers.h"

#include <cmath>
#include <utility>

#include "tarn/backend/atomic.h"
#include "tarn/surface/measure.h"

namespace tarn {

namespace {

// In cells, that of a ball of the marker's volume.
template <int D>
float marker_radius(int along)
{
    const double share = marker_share<D>(along);
    return static_cast<float>(D == 2 ? std::sqrt(share / M_PI) : std::cbrt(0.75 * share / M_PI));
}

// The cell that a position lies in; also one of the padding's.
template <int D>
TARN_HD inline Cell<D> cell_of(const Vec<D, float>& x)
{
    Cell<D> c;
    for (int a = 0; a < D; ++a) c[a] = static_cast<int>(std::floor(x[a] + 0.5f));
    return c;
}

// The velocity along an axis at a place in cell `own`, from the faces around it, each weighted by the area opposite. A face
// inside a wall has what the wall makes of the face before it.
template <int D>
TARN_HD inline float velocity_at(const View<D, const float>& u, const LabelView<D>& label, Cell<D> own, Vec<D, float> x,
                                 int axis)
{
    Cell<D> lower;
    float w[D];
    for (int a = 0; a < D; ++a) {
        const float at = a == axis ? x[a] + 0.5f : x[a];
        lower[a] = a == axis ? own[a] : static_cast<int>(std::floor(at));
        w[a] = at - static_cast<float>(lower[a]);
    }
    float sum = 0;
    for (int corner = 0; corner < (1 << D); ++corner) {
        Cell<D> face = lower, before = own;
        float weight = 1;
        for (int a = 0; a < D; ++a) {
            const int upper = corner >> a & 1;
            face[a] += upper;
            if (a == axis) before[a] += upper;
            weight *= upper ? w[a] : 1 - w[a];
        }
        const int i = u.index(face);
        sum += weight * (is_buried<D>(label, i, axis) ? mirrored<D>(label, i, axis, u(before)) : u[i]);
    }
    return sum;
}
template <int D>
TARN_HD inline Vec<D, float> velocity_at(const FaceView<D, const float>& u, const LabelView<D>& label, Cell<D> cells,
                                         Vec<D, float> x)
{
    // Past the domain's sides as at them.
    Cell<D> own;
    for (int a = 0; a < D; ++a) {
        const float last = static_cast<float>(cells[a]) - 0.5f;
        x[a] = x[a] < -0.5f ? -0.5f : (x[a] > last ? last : x[a]);
        const int c = static_cast<int>(std::floor(x[a] + 0.5f));
        own[a] = c < cells[a] ? c : cells[a] - 1;
    }
    Vec<D, float> v;
    for (int a = 0; a < D; ++a) v[a] = velocity_at<D>(u[a], label, own, x, a);
    return v;
}

// Calls f(cell, weight) for the cells around a place, of which the weights are those of its distance along each axis.
template <int D, class F>
TARN_HD inline void spread(Vec<D, float> x, const F& f)
{
    Cell<D> lower;
    float w[D];
    for (int a = 0; a < D; ++a) {
        lower[a] = static_cast<int>(std::floor(x[a]));
        w[a] = x[a] - static_cast<float>(lower[a]);
    }
    for (int corner = 0; corner < (1 << D); ++corner) {
        Cell<D> c = lower;
        float weight = 1;
        for (int a = 0; a < D; ++a) {
            const int upper = corner >> a & 1;
            c[a] += upper;
            weight *= upper ? w[a] : 1 - w[a];
        }
        f(c, weight);
    }
}

// The part of a cell's weights that lies in cells which are no walls: an eighth along each axis reaches into either neighbour.
template <int D>
TARN_HD inline float open_part(const LabelView<D>& label, Cell<D> c)
{
    constexpr float part[3] = {0.125f, 0.75f, 0.125f};
    float sum = 0;
    for (int n = 0; n < (D == 2 ? 9 : 27); ++n) {
        Cell<D> other = c;
        float weight = 1;
        for (int a = 0, rest = n; a < D; ++a, rest /= 3) {
            other[a] += rest % 3 - 1;
            weight *= part[rest % 3];
        }
        if (!is_beyond(label(other))) sum += weight;
    }
    return sum;
}

}  // namespace

template <int D>
void seed_markers(Particles<D>& markers, const Field<D>& phi, const Labels<D>& labels, int along)
{
    const Grid<D>& grid = phi.grid();
    const auto f = phi.view();
    const LabelView<D> label = labels.view();
    const Cell<D> n = grid.cells;
    const int per_cell = D == 2 ? along * along : along * along * along, cells = static_cast<int>(grid.count());
    // Calls use(place) for the places of a cell's lattice that are wet: phi goes on straight from the cell's centre.
    const auto each_place = [=] TARN_KERNEL(int cell, const auto& use) {
        Cell<D> c;
        for (int a = 0; a < D; ++a, cell /= n[a - 1]) c[a] = cell % n[a];
        if (is_beyond(label(c))) return;
        const Vec<D, float> slope = gradient_per_cell<D>(f, n, c);
        for (int i = 0; i < per_cell; ++i) {
            Vec<D, float> offset, x;
            for (int a = 0, sub = i; a < D; ++a, sub /= along) {
                offset[a] = (static_cast<float>(sub % along) + 0.5f) / static_cast<float>(along) - 0.5f;
                x[a] = static_cast<float>(c[a]) + offset[a];
            }
            if (f(c) + dot(offset, slope) < 0) use(x);
        }
    };
    Memory<int> starts(static_cast<size_t>(cells) + 1);
    int* const start = starts.data();
    parallel_range("seed markers", cells, [=] TARN_KERNEL(int cell) {
        int count = 0;
        each_place(cell, [&](const Vec<D, float>&) { ++count; });
        start[cell] = count;
    });
    markers.resize(parallel_starts("seed markers", start, cells + 1));
    const ParticleView<D> p = markers.view();
    const float radius = -marker_radius<D>(along);
    parallel_range("seed markers", cells, [=] TARN_KERNEL(int cell) {
        int i = start[cell];
        each_place(cell, [&](const Vec<D, float>& x) {
            p.put(i, x);
            p.radius[i++] = radius;
        });
    });
}

template <int D>
void add_markers(Particles<D>& markers, const std::vector<Vec<D, float>>& places, int along)
{
    if (places.empty()) return;
    const int before = markers.count(), more = static_cast<int>(places.size());
    Particles<D> all;
    all.resize(before + more);
    std::vector<float> column(places.size(), -marker_radius<D>(along));
    for (int n = 0; n <= D; ++n) {
        if (n < D)
            for (size_t i = 0; i < places.size(); ++i) column[i] = places[i][n];
        else
            column.assign(places.size(), -marker_radius<D>(along));
        backend::copy(all.column(n), markers.column(n), static_cast<size_t>(before) * sizeof(float));
        backend::copy(all.column(n) + before, column.data(), column.size() * sizeof(float));
    }
    markers.swap(all);
}

template <int D>
int remove_markers(Particles<D>& markers, const Memory<int>& gone)
{
    const int before = markers.count();
    Memory<int> starts(static_cast<size_t>(before) + 1);
    int* const to = starts.data();
    const int* const lost = gone.data();
    parallel_range("remove markers", before, [=] TARN_KERNEL(int i) { to[i] = lost[i] == 0; });
    const int left = parallel_starts("remove markers", to, before + 1);
    if (left == before) return 0;
    Particles<D> kept;
    kept.resize(left);
    const ParticleView<D> from = markers.view(), p = kept.view();
    parallel_range("remove markers", before, [=] TARN_KERNEL(int i) {
        if (lost[i] != 0) return;
        p.put(to[i], from.at(i));
        p.radius[to[i]] = from.radius[i];
    });
    markers.swap(kept);
    return before - left;
}

template <int D>
void label_cells(Labels<D>& labels, const Particles<D>& markers)
{
    Field<D, int> found(labels.grid());
    const auto wet = found.view();
    const auto p = const_cast<Particles<D>&>(markers).view();
    parallel_range("label cells", markers.count(),
                   [=] TARN_KERNEL(int i) { atomic_store(&wet(cell_of<D>(p.at(i))), 1); });
    label_wet_cells(labels, found);
}

template <int D>
void label_wet_cells(Labels<D>& labels, const Field<D, int>& found)
{
    const auto wet = found.view();
    const auto label = labels.view();
    const auto may_be_wet = [=] TARN_KERNEL(int i) {
        return label[i] == Contents::empty || label[i] == Contents::surface || label[i] == Contents::full;
    };
    parallel_for("label cells", all_tiles(labels.grid()), [=] TARN_KERNEL(Cell<D> c) {
        const int i = label.index(c);
        if (!may_be_wet(i)) return;
        bool beside_air = false;
        for (int a = 0; a < D; ++a)
            for (const int n : {-label.next(a), label.next(a)}) beside_air = beside_air || (may_be_wet(i + n) && !wet[i + n]);
        label[i] = !wet[i] ? Contents::empty : (beside_air ? Contents::surface : Contents::full);
    });
}

template <int D>
void move_markers(Particles<D>& markers, const FaceField<D>& velocity, const Labels<D>& labels, double dt)
{
    const Grid<D>& grid = velocity.grid();
    const auto u = velocity.view();
    const LabelView<D> label = labels.view();
    const Cell<D> cells = grid.cells;
    const float t = static_cast<float>(dt / grid.h);
    const ParticleView<D> p = markers.view();
    parallel_range("move markers", markers.count(), [=] TARN_KERNEL(int i) {
        const Vec<D, float> x = p.at(i);
        const Vec<D, float> middle = x + 0.5f * t * velocity_at<D>(u, label, cells, x);
        const Vec<D, float> way = t * velocity_at<D>(u, label, cells, middle);
        // Axis by axis, so that what a wall holds back slides along it.
        Vec<D, float> to = x;
        for (int a = 0; a < D; ++a) {
            to[a] += way[a];
            if (is_wall(label(cell_of<D>(to)))) to[a] = x[a];
        }
        p.put(i, to);
    });
}

template <int D>
void find_phi(Field<D>& phi, const Particles<D>& markers, const Labels<D>& labels, int along)
{
    const Grid<D>& grid = phi.grid();
    const LabelView<D> label = labels.view();
    const auto p = const_cast<Particles<D>&>(markers).view();
    // Sums of whole numbers do not depend on their order.
    constexpr float scale = 0x1p16f;
    Field<D, int> sums(grid);
    const auto sum = sums.view();
    parallel_range("markers to phi", markers.count(), [=] TARN_KERNEL(int i) {
        spread<D>(p.at(i), [=] TARN_KERNEL(Cell<D> c, float weight) {
            atomic_add(&sum(c), static_cast<int>(weight * scale + 0.5f));
        });
    });
    const float share = static_cast<float>(marker_share<D>(along)) / scale, h = static_cast<float>(grid.h);
    const auto f = phi.view();
    parallel_for("markers to phi", all_tiles(grid), [=] TARN_KERNEL(Cell<D> c) {
        const float open = sum(c) > 0 ? open_part<D>(label, c) : 0.0f;
        float part = open > 0 ? share * static_cast<float>(sum(c)) / open : 0.0f;
        part = part > 1 ? 1.0f : part;
        f(c) = h * (part < 0.5f ? 1 - std::sqrt(2 * part) : std::sqrt(2 * (1 - part)) - 1);
    });
}

#define TARN_INSTANTIATE(D)                                                                                  \
    template void seed_markers(Particles<D>&, const Field<D>&, const Labels<D>&, int);                       \
    template void add_markers(Particles<D>&, const std::vector<Vec<D, float>>&, int);                        \
    template int remove_markers(Particles<D>&, const Memory<int>&);                                          \
    template void label_cells(Labels<D>&, const Particles<D>&);                                              \
    template void label_wet_cells(Labels<D>&, const Field<D, int>&);                                         \
    template void move_markers(Particles<D>&, const FaceField<D>&, const Labels<D>&, double);                \
    template void find_phi(Field<D>&, const Particles<D>&, const Labels<D>&, int);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
