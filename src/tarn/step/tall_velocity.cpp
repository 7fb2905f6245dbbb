// The velocity below the optical layer: how it is carried, how it comes to new columns, and what the layer sees of it.
//
// A face's velocity is linear between its rows. A vertical one is the mean over the faces that its gap stands for; where single
// faces are asked for, it is linear within the gap, so that the mean stays what it is.

#include <algorithm>
#include <cmath>
#include <utility>

#include "tarn/advect/trace.h"
#include "tarn/backend/parallel.h"
#include "tarn/step/tall.h"
#include "tarn/step/tall_columns.h"
#include "tarn/step/tall_profiles.h"

namespace tarn::tall {

namespace {

// The velocity of the columns anywhere.
template <int D>
struct Sampler {
    const TallColumns& columns;
    const FaceColumns* faces;
    const ColumnVelocity& velocity;

    Profile face(int axis, int f) const
    {
        const FaceColumns& of = faces[axis];
        const int first = of.start[at(f)];
        return {of.row.data() + first, velocity.u[axis].data() + first, of.start[at(f) + 1] - first};
    }
    Profile column(int c) const
    {
        const int first = columns.start[at(c)];
        return {columns.row.data() + first, velocity.v.data() + first, columns.start[at(c) + 1] - first};
    }
    // Along x (0), z (1) or y (2), from the two or four columns around a place. Where there is no water the others stand in,
    // but at the domain's sides nothing flows.
    float component(int axis, Vec<D, float> x) const
    {
        const int nx = axis == 0 ? columns.count[0] + 1 : columns.count[0];
        const int nz = axis == 1 ? columns.count[1] + 1 : columns.count[1];
        float wx, wz = 0;
        const int i = nx > 1 ? locate(x[0] + (axis == 0 ? 0.5f : 0.0f), nx - 1, wx) : (wx = 0, 0);
        int k = 0;
        if constexpr (D == 3)
            if (nz > 1) k = locate(x[2] + (axis == 1 ? 0.5f : 0.0f), nz - 1, wz);
        float sum = 0, weight = 0;
        for (int n = 0; n < (D == 3 ? 4 : 2); ++n) {
            const float w = (n % 2 ? wx : 1 - wx) * (n / 2 ? wz : 1 - wz);
            if (!(w > 0)) continue;
            const int f = i + n % 2 + nx * (k + n / 2);
            if (axis < 2) {
                const Profile p = face(axis, f);
                const bool side = faces[axis].before(f) < 0 || faces[axis].after(f) < 0;
                if (p.count == 0 && !side) continue;
                sum += p.count > 0 ? w * p.at_row(x[1]) : 0.0f;
            } else {
                const Profile p = column(f);
                if (p.count < 2) continue;
                sum += w * p.of_links(x[1]);
            }
            weight += w;
        }
        return weight > 0 ? sum / weight : 0.0f;
    }
    Vec<D, float> operator()(Vec<D, float> x) const
    {
        Vec<D, float> v;
        v[0] = component(0, x);
        v[1] = component(2, x);
        if constexpr (D == 3) v[2] = component(1, x);
        return v;
    }
};

template <int D>
Vec<D, float> place(float x, float y, float z)
{
    Vec<D, float> p;
    p[0] = x;
    p[1] = y;
    if constexpr (D == 3) p[2] = z;
    return p;
}

// The sum over rows a <= j < b of two linear functions, given at a and b.
double sum_of_products(int a, int b, double f_a, double f_b, double g_a, double g_b)
{
    const double n = b - a, first = (n - 1) / 2, second = (n - 1) * (2 * n - 1) / (6 * n);  // sums of s and s^2, s = (j - a) / n
    const double df = f_b - f_a, dg = g_b - g_a;
    return n * f_a * g_a + first * (f_a * dg + g_a * df) + second * df * dg;
}

// The linear profile on `rows` that is nearest to another one in the sum of squares over all rows between their ends, by the
// normal equations of the hat functions.   [IGLF06] (1)
void fit(const std::vector<int>& rows, const std::vector<int>& from_rows, const std::vector<double>& from,
         std::vector<double>& fitted)
{
    const size_t n = rows.size();
    fitted.assign(n, 0.0);
    if (n == 1) {
        fitted[0] = from.back();
        return;
    }
    size_t k = 0;
    const auto old = [&](int j) {
        while (k + 2 < from_rows.size() && from_rows[k + 1] <= j) ++k;
        if (from_rows.size() == 1 || j <= from_rows[0]) return from[0];
        if (j >= from_rows.back()) return from.back();
        const double t = static_cast<double>(j - from_rows[k]) / (from_rows[k + 1] - from_rows[k]);
        return from[k] + t * (from[k + 1] - from[k]);
    };
    for (size_t m = 0; m + 1 < n; ++m) {
        const int a = rows[m], b = rows[m + 1];
        for (int j = a; j < b;) {
            // To where either bends.
            const double here = old(j);
            int next = b;
            if (j < from_rows[0]) next = std::min(b, from_rows[0]);
            else if (k + 1 < from_rows.size() && from_rows[k + 1] > j) next = std::min(b, from_rows[k + 1]);
            const double there = old(next), s = static_cast<double>(j - a) / (b - a), t = static_cast<double>(next - a) / (b - a);
            fitted[m] += sum_of_products(j, next, 1 - s, 1 - t, here, there);
            fitted[m + 1] += sum_of_products(j, next, s, t, here, there);
            j = next;
        }
    }
    fitted[n - 1] += old(rows.back());
    divide_by_hats(rows, fitted);
}

// Vertical velocities of a column's links as single faces have them.
struct Links {
    const int* row;
    const float* v;
    int count;         // of nodes
    double ground = 0;  // the velocity there: what forces have given to all

    double middle(int n) const { return 0.5 * (row[n] + row[n + 1]); }
    // Per row, of link n.
    double slope(int n) const
    {
        const double bed = row[0] - 0.5;
        const bool top = n + 2 >= count;
        const double y0 = n > 0 ? middle(n - 1) : bed, y1 = top ? middle(n) : middle(n + 1);
        const double v0 = n > 0 ? static_cast<double>(v[n - 1]) : ground, v1 = static_cast<double>(v[top ? n : n + 1]);
        return y1 > y0 ? (v1 - v0) / (y1 - y0) : 0.0;
    }
    // The sum over the faces j with from < j <= to, those between rows j - 1 and j, all in link n.
    double sum(int n, int from, int to) const
    {
        const double faces = to - from;
        return faces * (static_cast<double>(v[n]) + slope(n) * (0.5 * (from + to) - middle(n)));
    }
};

// The velocity of one face on its new rows: the uniform grid's where that holds it before and after, and below the line through each gap
// that is nearest to what was there.
template <int D>
void regrid_face(const TallCells<D>& t, const View<D, const float>& u, const std::vector<float>& u_moved, const FaceColumns& to,
                 const FaceColumns& from, const std::vector<int>& bottom, int f, std::vector<float>& u_next)
{
    const bool any = from.faces() == to.faces() && from.rows() > 0;
    const int first = to.start[at(f)], end = to.start[at(f) + 1];
    if (first == end) return;
    const int new_fine = lowest_fine(to, bottom, f);
    const int old_first = any ? from.start[at(f)] : 0, old_end = any ? from.start[at(f) + 1] : 0;
    const int old_fine = any && old_first < old_end ? lowest_fine(from, t.bottom, f) : new_fine;
    const int fine = std::max(new_fine, old_fine);
    const auto on_grid = [&](int j) { return u(face_cell<D>(to, f, j)); };
    int k = first;
    while (k < end && to.row[at(k)] < fine) ++k;
    const int joint = k;  // the first row that is fine before and after
    for (; k < end; ++k) u_next[at(k)] = on_grid(to.row[at(k)]);
    if (joint == first) return;
    if (old_first == old_end) {
        for (k = first; k < joint; ++k) u_next[at(k)] = 0;
        return;
    }
    const auto old_value = [&](int m) {
        const int j = from.row[at(m)];
        return j >= old_fine ? on_grid(j) : u_moved[at(m)];
    };
    bool same = true;
    int m = old_first;
    for (k = first; k < joint && same; ++k, ++m) same = m < old_end && from.row[at(m)] == to.row[at(k)];
    if (same && m < old_end && from.row[at(m)] >= fine) {
        for (k = first, m = old_first; k < joint; ++k, ++m) u_next[at(k)] = old_value(m);
        return;
    }
    std::vector<int> rows, old_rows;
    std::vector<double> old, fitted;
    const int last = std::min(joint, end - 1);
    for (k = first; k <= last; ++k) rows.push_back(to.row[at(k)]);
    for (m = old_first; m < old_end; ++m) {
        if (!old_rows.empty() && old_rows.back() >= rows.back()) break;
        old_rows.push_back(from.row[at(m)]);
        old.push_back(static_cast<double>(old_value(m)));
    }
    fit(rows, old_rows, old, fitted);
    for (k = first; k <= last; ++k) u_next[at(k)] = static_cast<float>(fitted[at(k - first)]);
}

// The same for the links of a column, whose means stay.
template <int D>
void regrid_links(const TallCells<D>& t, const Grid<D>& grid, const View<D, const float>& u, const std::vector<float>& moved,
                  const TallColumns& columns, const std::vector<int>& bottom, double ground, int c, std::vector<float>& next)
{
    const int first = columns.start[at(c)], end = columns.start[at(c) + 1];
    const int old_first = t.columns.start[at(c)], old_end = t.columns.start[at(c) + 1];
    const int old_bottom = t.bottom.empty() || old_first == old_end ? bottom[at(c)] : t.bottom[at(c)];
    const auto on_grid = [&](int j) { return u(cell_of<D>(grid, c, j)); };
    // The old links, with what the layer brings to them.
    std::vector<int> rows(t.columns.row.begin() + old_first, t.columns.row.begin() + old_end);
    std::vector<float> v(moved.begin() + old_first, moved.begin() + old_end);
    for (size_t n = 0; n + 1 < rows.size(); ++n)
        if (rows[n] >= old_bottom) v[n] = on_grid(rows[n] + 1);
    const Links old{rows.data(), v.data(), static_cast<int>(rows.size()), ground};
    int m = 0;
    for (int n = first; n + 1 < end; ++n) {
        if (!columns.joined[at(n)]) continue;
        const int a = columns.row[at(n)], b = columns.row[at(n) + 1];
        if (a >= old_bottom || old.count < 2) {
            double sum = 0;
            for (int j = a + 1; j <= b; ++j) sum += static_cast<double>(on_grid(j));
            next[at(n)] = static_cast<float>(sum / (b - a));
            continue;
        }
        while (m + 2 < old.count && rows[at(m) + 1] <= a) ++m;
        if (rows[at(m)] == a && rows[at(m) + 1] == b) {
            next[at(n)] = v[at(m)];
            continue;
        }
        double sum = 0;
        for (int j = std::max(a, rows[0]); j < b && j < rows.back();) {
            while (m + 2 < old.count && rows[at(m) + 1] <= j) ++m;
            const int to = std::min(b, rows[at(m) + 1]);
            sum += old.sum(m, j, to);
            j = to;
        }
        next[at(n)] = static_cast<float>(sum / (b - a));
        while (m > 0 && rows[at(m)] > a) --m;
    }
}

}  // namespace

template <int D>
VelocityAt<D> velocity_anywhere(const Water<D>& w)
{
    return Sampler<D>{w.tall.columns, w.tall.faces, w.tall.velocity};
}

template <int D>
ColumnVelocity advect_gaps(const Water<D>& w, double dt)
{
    const TallCells<D>& t = w.tall;
    const TallColumns& columns = t.columns;
    ColumnVelocity moved = t.velocity;
    const Sampler<D> sampler{columns, t.faces, t.velocity};
    const float s = static_cast<float>(dt / w.grid.h);
    // Paths back from the nodes in the middle of columns, in cells; faces and links start between two of them and take the mean
    // of theirs, as on the uniform grid.
    std::vector<Vec<D, float>> path(columns.row.size());
    parallel_range("trace gaps", columns.columns(), [&](int c) {
        const float x = static_cast<float>(c % columns.count[0]), z = static_cast<float>(c / columns.count[0]);
        // As far as a face between this column and a neighbour may ask.
        int highest = t.bottom[at(c)];
        for (int axis = 0; axis < D - 1; ++axis)
            for (int side = 0; side < 2; ++side) {
                const int f = t.faces[axis].of_column(c, side), other = side ? t.faces[axis].after(f) : t.faces[axis].before(f);
                if (other >= 0 && t.bottom[at(other)] < w.grid.cells[1]) highest = std::max(highest, t.bottom[at(other)]);
            }
        for (int n = columns.start[at(c)]; n < columns.start[at(c) + 1] && columns.row[at(n)] <= highest; ++n) {
            const Vec<D, float> from = place<D>(x, static_cast<float>(columns.row[at(n)]), z);
            path[at(n)] = trace_by(sampler, from, sampler(from), -s) - from;
        }
    });
    for (int axis = 0; axis < D - 1; ++axis) {
        const FaceColumns& faces = t.faces[axis];
        parallel_range("advect gaps", faces.faces(), [&](int f) {
            const int fine = lowest_fine(faces, t.bottom, f);
            const float x = static_cast<float>(f % faces.count[0]) - (axis == 0 ? 0.5f : 0.0f);
            const float z = static_cast<float>(f / faces.count[0]) - (axis == 1 ? 0.5f : 0.0f);
            for (int k = faces.start[at(f)]; k < faces.start[at(f) + 1] && faces.row[at(k)] < fine; ++k) {
                Vec<D, float> way;
                int sides = 0;
                for (const Between b : {faces.lower[at(k)], faces.upper[at(k)]}) {
                    if (b.node < 0) continue;
                    way += path[at(b.node)];
                    if (b.part > 0) way += b.part * (path[at(b.node) + 1] - path[at(b.node)]);
                    ++sides;
                }
                const Vec<D, float> from = place<D>(x, static_cast<float>(faces.row[at(k)]), z);
                moved.u[axis][at(k)] = sampler.component(axis, from + (1.0f / static_cast<float>(sides)) * way);
            }
        });
    }
    parallel_range("advect gaps", columns.columns(), [&](int c) {
        const float x = static_cast<float>(c % columns.count[0]), z = static_cast<float>(c / columns.count[0]);
        for (int n = columns.start[at(c)]; n < columns.start[at(c) + 1] && columns.row[at(n)] < t.bottom[at(c)]; ++n) {
            if (!columns.joined[at(n)]) continue;
            const float y = 0.5f * static_cast<float>(columns.row[at(n)] + columns.row[at(n) + 1]);
            moved.v[at(n)] = sampler.component(2, place<D>(x, y, z) + 0.5f * (path[at(n)] + path[at(n) + 1]));
        }
    });
    return moved;
}

template <int D>
void push_gaps(Water<D>& w, const Pushed& pushed)
{
    TallCells<D>& t = w.tall;
    const auto on = [&](Vec<D> x, int axis, float u) { return pushed(lift<D>(x), axis, static_cast<double>(u)); };
    for (int axis = 0; axis < D - 1; ++axis) {
        const FaceColumns& faces = t.faces[axis];
        parallel_range("push gaps", faces.faces(), [&](int f) {
            const int fine = lowest_fine(faces, t.bottom, f);
            for (int k = faces.start[at(f)]; k < faces.start[at(f) + 1] && faces.row[at(k)] < fine; ++k) {
                float& u = t.velocity.u[axis][at(k)];
                u = static_cast<float>(on(w.grid.face(face_cell<D>(faces, f, faces.row[at(k)]), 2 * axis), 2 * axis, u));
            }
        });
    }
    // The mean over a gap, by Gauss's three places.
    constexpr double away[3] = {-0.7745966692414834, 0, 0.7745966692414834}, weight[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    parallel_range("push gaps", t.columns.columns(), [&](int c) {
        for (int n = t.columns.start[at(c)]; n < t.columns.start[at(c) + 1] && t.columns.row[at(n)] < t.bottom[at(c)]; ++n) {
            if (!t.columns.joined[at(n)]) continue;
            const int a = t.columns.row[at(n)], b = t.columns.row[at(n) + 1];
            Vec<D> middle = w.grid.face(cell_of<D>(w.grid, c, a + 1), 1);
            middle[1] += 0.5 * w.grid.h * (b - a - 1);
            double mean = 0;
            for (int i = 0; i < 3; ++i) {
                Vec<D> x = middle;
                x[1] += 0.5 * w.grid.h * (b - a) * away[i];
                mean += weight[i] * on(x, 1, t.velocity.v[at(n)]);
            }
            t.velocity.v[at(n)] = static_cast<float>(mean);
        }
    });
}

template <int D>
ColumnVelocity regrid(const Water<D>& w, const ColumnVelocity& moved, const TallColumns& columns, const FaceColumns faces[2],
                      const std::vector<int>& bottom, const Ground& ground)
{
    const TallCells<D>& t = w.tall;
    const auto u = w.velocity.view();
    ColumnVelocity next;
    for (int axis = 0; axis < D - 1; ++axis) {
        next.u[axis].resize(at(faces[axis].rows()));
        parallel_range("regrid", faces[axis].faces(), [&](int f) {
            regrid_face<D>(t, u[2 * axis], moved.u[axis], faces[axis], t.faces[axis], bottom, f, next.u[axis]);
        });
    }
    next.v.assign(columns.row.size(), 0.0f);
    parallel_range("regrid", columns.columns(), [&](int c) {
        double bed = ground.gravity;
        if (ground.pushed && columns.start[at(c)] < columns.start[at(c) + 1])
            bed += ground.pushed(lift<D>(w.grid.face(cell_of<D>(w.grid, c, columns.row[at(columns.start[at(c)])]), 1)), 1, 0.0);
        regrid_links<D>(t, w.grid, u[1], moved.v, columns, bottom, bed, c, next.v);
    });
    return next;
}

template <int D>
void spread(Water<D>& w)
{
    const TallCells<D>& t = w.tall;
    const auto active = [&](Cell<D> c) {
        for (int a = 0; a < D; ++a) c[a] = std::min(c[a], w.grid.cells[a] - 1) / tile_size;
        return (w.map.flags[w.map.index(c)] & tile_active) != 0;
    };
    for (int axis = 0; axis < D - 1; ++axis) {
        const FaceColumns& faces = t.faces[axis];
        const std::vector<float>& from = t.velocity.u[axis];
        const auto u = w.velocity[2 * axis].view();
        parallel_range("spread", faces.faces(), [&](int f) {
            const int fine = lowest_fine(faces, t.bottom, f);
            for (int k = faces.start[at(f) + 1] - 1; k >= faces.start[at(f)]; --k) {
                const int j = faces.row[at(k)];
                const Cell<D> c = face_cell<D>(faces, f, j);
                if (j >= fine || active(c)) u(c) = from[at(k)];
                if (k == faces.start[at(f)] || j > fine) continue;
                const int below = faces.row[at(k) - 1];
                const float per_row = (from[at(k)] - from[at(k) - 1]) / static_cast<float>(j - below);
                for (int i = j - 1; i > below; --i) {
                    const Cell<D> virtual_cell = face_cell<D>(faces, f, i);
                    if (!active(virtual_cell)) {
                        i -= i % tile_size;  // on to the next tile
                        continue;
                    }
                    u(virtual_cell) = from[at(k) - 1] + static_cast<float>(i - below) * per_row;
                }
            }
        });
    }
    const auto u = w.velocity[1].view();
    parallel_range("spread", t.columns.columns(), [&](int c) {
        const int first = t.columns.start[at(c)], count = t.columns.start[at(c) + 1] - first;
        const Links links{t.columns.row.data() + first, t.velocity.v.data() + first, count};
        for (int n = 0; n + 1 < count; ++n) {
            if (!t.columns.joined[at(first + n)]) continue;
            const int a = links.row[n], b = links.row[n + 1];
            if (b == a + 1) {
                const Cell<D> face = cell_of<D>(w.grid, c, b);
                if (a >= t.bottom[at(c)] || active(face)) u(face) = links.v[n];
                continue;
            }
            const double slope = links.slope(n), middle = links.middle(n);
            for (int j = b; j > a; --j) {
                const Cell<D> face = cell_of<D>(w.grid, c, j);
                if (!active(face)) {
                    j -= j % tile_size;
                    continue;
                }
                u(face) = static_cast<float>(static_cast<double>(links.v[n]) + slope * (j - 0.5 - middle));
            }
        }
    });
}

template <int D>
ColumnVelocity initial_velocity(const Water<D>& w, const Scene& scene, const TallColumns& columns, const FaceColumns faces[2])
{
    const Params& p = scene.params;
    const KernelShapes kept = scene.water.for_kernels(0);
    const ShapesView shapes = kept.view();
    const double g = length(p.domain.gravity.at(0)), h = w.grid.h;
    // Each shape brings its velocity; later ones win.
    const auto velocity = [&](Vec<D> x, int a) {
        double u = 0;
        for (size_t s = 0; s < p.water.size(); ++s) {
            const Shape& shape = shapes.shapes[s];
            if (p.water[s].subtract || !(distance(shape, lift<D>(x)) < 0.5 * h)) continue;
            u = p.water[s].velocity[a] + own_velocity(shape, lift<D>(x), g)[a];
        }
        return static_cast<float>(u);
    };
    ColumnVelocity v;
    for (int axis = 0; axis < D - 1; ++axis) {
        v.u[axis].resize(at(faces[axis].rows()));
        for (int f = 0; f < faces[axis].faces(); ++f)
            for (int k = faces[axis].start[at(f)]; k < faces[axis].start[at(f) + 1]; ++k)
                v.u[axis][at(k)] =
                    velocity(w.grid.face(face_cell<D>(faces[axis], f, faces[axis].row[at(k)]), 2 * axis), 2 * axis);
    }
    v.v.assign(columns.row.size(), 0.0f);
    for (int c = 0; c < columns.columns(); ++c)
        for (int n = columns.start[at(c)]; n + 1 < columns.start[at(c) + 1]; ++n) {
            if (!columns.joined[at(n)]) continue;
            Vec<D> x = w.grid.centre(cell_of<D>(w.grid, c, columns.row[at(n)]));
            x[1] += 0.5 * h * (columns.row[at(n) + 1] - columns.row[at(n)]);
            v.v[at(n)] = velocity(x, 1);
        }
    return v;
}

template <int D>
double volume_below(const Water<D>& w)
{
    double sum = 0;
    for (size_t n = 0; n < w.map.flags.size(); ++n)
        if ((w.map.flags[n] & tile_wet) && !(w.map.flags[n] & tile_active)) sum += static_cast<double>(w.tall.full_volume[n]);
    return sum * cell_volume(w.grid);
}

template <int D>
Below measure_below(const Water<D>& w, const Vec<D>& g)
{
    const TallCells<D>& t = w.tall;
    Below below;
    const auto deep = [&](size_t n) { return (w.map.flags[n] & tile_wet) && !(w.map.flags[n] & tile_active); };
    for (size_t n = 0; n < w.map.flags.size(); ++n) {
        if (!deep(n)) continue;
        const Box<D> box = w.map.box(w.map.tile(n));
        below.cells += box.volume();
        for (int a = 0; a < D; ++a) {
            const double middle = a == 1 ? static_cast<double>(t.full_height[n])
                                         : static_cast<double>(t.full_volume[n]) * 0.5 * (box.lo[a] + box.hi[a]);
            below.potential -= g[a] * w.grid.h * middle;
        }
    }
    // Rows below the active tiles; the velocity's time is that of the surface (step/measure.cpp).
    const auto active_from = [&](Cell<D> c) {
        for (int a = 0; a < D; ++a) c[a] = std::min(c[a], w.grid.cells[a] - 1) / tile_size;
        for (c[1] = 0; c[1] < w.map.count[1]; ++c[1])
            if (w.map.flags[w.map.index(c)] & tile_active) break;
        return c[1] * tile_size;
    };
    for (int axis = 0; axis < D - 1; ++axis) {
        const FaceColumns& faces = t.faces[axis];
        const double fallen = 2 * w.ahead * g[2 * axis];
        for (int f = 0; f < faces.faces(); ++f) {
            const int first = faces.start[at(f)], end = faces.start[at(f) + 1];
            const int top = first < end ? active_from(face_cell<D>(faces, f, 0)) : 0;
            for (int k = first; k + 1 < end && faces.row[at(k)] < top; ++k) {
                const int a = faces.row[at(k)], b = std::min(faces.row[at(k) + 1], top);
                const double lower = static_cast<double>(t.velocity.u[axis][at(k)]);
                const double part = static_cast<double>(b - a) / (faces.row[at(k) + 1] - a);
                const double upper = lower + part * (static_cast<double>(t.velocity.u[axis][at(k) + 1]) - lower);
                below.kinetic += 0.5 * sum_of_products(a, b, lower, upper, lower - fallen, upper - fallen);
            }
        }
    }
    const double fallen = 2 * w.ahead * g[1];
    for (int c = 0; c < t.columns.columns(); ++c) {
        const int first = t.columns.start[at(c)], end = t.columns.start[at(c) + 1];
        const int top = first < end ? active_from(cell_of<D>(w.grid, c, 0)) : 0;
        for (int n = first; n + 1 < end && t.columns.row[at(n)] < top; ++n) {
            if (!t.columns.joined[at(n)]) continue;
            const double v = static_cast<double>(t.velocity.v[at(n)]);
            below.kinetic += 0.5 * v * (v - fallen) * (std::min(t.columns.row[at(n) + 1], top) - t.columns.row[at(n)]);
        }
    }
    return below;
}

#define TARN_INSTANTIATE(D)                                                                                         \
    template VelocityAt<D> velocity_anywhere(const Water<D>&);                                                      \
    template ColumnVelocity advect_gaps(const Water<D>&, double);                                                   \
    template ColumnVelocity regrid(const Water<D>&, const ColumnVelocity&, const TallColumns&, const FaceColumns[2],    \
                                   const std::vector<int>&, const Ground&);                                         \
    template void push_gaps(Water<D>&, const Pushed&);                                                              \
    template void spread(Water<D>&);                                                                                \
    template ColumnVelocity initial_velocity(const Water<D>&, const Scene&, const TallColumns&, const FaceColumns[2]);  \
    template double volume_below(const Water<D>&);                                                                  \
    template Below measure_below(const Water<D>&, const Vec<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn::tall
