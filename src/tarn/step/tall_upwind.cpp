// The velocity below the optical layer by conservative upwind fluxes.   [IGLF06] §3.2, (4), (5)
//
//   u_t + (u u)_x + (v u)_y + (w u)_z = 0,   u* = u - dt / h sum ± F,   F_u = u_up u_up,  F_v = v_av u_up,  F_w = w_av u_up,
//
// at every row of the uniform grid below the layer, u_av, v_av, w_av being the means at the sides of a face's control volume, by whose sign u_up is
// that of one side or the other. Horizontal velocities are linear between the rows of a face, vertical ones the same along a tall cell; below the
// ground there are none. What comes out is made linear again by least squares, (1), and to the mean of each tall cell: so it is what refining, the
// uniform grid's scheme and coarsening would give.
//
// No row is visited: between the rows at which any of the profiles bends or changes its side, fluxes times hat functions are cubics of the row. Their sum over n
// rows around m is n/2 (f(m - s) + f(m + s)), s^2 = (n^2 - 1) / 12, exactly: Gauss's rule for sums.
//
// Deviation: the paper divides by the weights that a field of ones gets where they are more than one, at steep ground, and gives up momentum there. Nothing
// is divided here.

#include <algorithm>
#include <cmath>

#include "tarn/backend/parallel.h"
#include "tarn/step/tall.h"
#include "tarn/step/tall_columns.h"
#include "tarn/step/tall_profiles.h"

namespace tarn::tall {

namespace {

// A profile as fluxes see it: zero below its rows. A face that there is none of has no rows.
double at_row(const Profile& p, double y)
{
    if (p.count == 0 || y < p.row[0]) return 0;
    if (y >= p.row[p.count - 1]) return static_cast<double>(p.value[p.count - 1]);
    const auto n = std::upper_bound(p.row, p.row + p.count, y, [](double a, int row) { return a < row; }) - p.row - 1;
    const double t = (y - p.row[n]) / (p.row[n + 1] - p.row[n]);
    return static_cast<double>(p.value[n]) + t * (static_cast<double>(p.value[n + 1]) - static_cast<double>(p.value[n]));
}

// The vertical velocity of a column between the rows y and y + 1.
double above_row(const Profile& links, double y)
{
    if (links.count < 2 || y < links.row[0]) return 0;
    const auto n = std::upper_bound(links.row, links.row + links.count - 1, y, [](double a, int row) { return a < row; }) - links.row - 1;
    return static_cast<double>(links.value[std::min<std::ptrdiff_t>(n, links.count - 2)]);
}

// Rows at which something bends, and the pieces between them.
class Pieces {
public:
    Pieces(int from, int to) : from_(from), to_(to) { rows_ = {from, to}; }
    // Where a profile starts there is a step from the row before it to its first.
    void add(const Profile& p)
    {
        for (int n = 0; n < p.count && p.row[n] < to_; ++n) add(p.row[n]);
        if (p.count > 0) add(p.row[0] - 1);
    }
    // Calls f(a, b) for the pieces of rows a <= j < b; `signs(y, i)` are averages, linear in each, of which none changes its sign in a piece.
    template <class Signs, class F>
    void for_each(int averages, const Signs& signs, const F& f)
    {
        std::sort(rows_.begin(), rows_.end());
        for (size_t n = 0; n + 1 < rows_.size(); ++n) {
            const int a = rows_[n], b = rows_[n + 1];
            if (a == b) continue;
            int cuts[6] = {a, b}, count = 2;
            for (int i = 0; i < averages; ++i) {
                const double first = signs(a, i), last = signs(b - 1, i);
                if ((first >= 0) == (last >= 0)) continue;
                cuts[count++] = std::clamp(a + 1 + static_cast<int>((b - 1 - a) * first / (first - last)), a + 1, b - 1);
            }
            std::sort(cuts, cuts + count);
            for (int i = 0; i + 1 < count; ++i)
                if (cuts[i] < cuts[i + 1]) f(cuts[i], cuts[i + 1]);
        }
    }

private:
    void add(int row)
    {
        if (row > from_ && row < to_) rows_.push_back(row);
    }
    int from_, to_;
    std::vector<int> rows_;
};

double upwind(double average, double before, double after) { return average >= 0 ? before : after; }

template <int D>
struct Upwind {
    const TallCells<D>& t;
    const ColumnVelocity& velocity;
    double c;  // dt / h

    Profile face(int axis, int f) const
    {
        const FaceColumns& of = t.faces[axis];
        if (f < 0) return {};
        const int first = of.start[at(f)];
        return {of.row.data() + first, velocity.u[axis].data() + first, of.start[at(f) + 1] - first};
    }
    Profile column(int i) const
    {
        if (i < 0) return {};
        const int first = t.columns.start[at(i)];
        return {t.columns.row.data() + first, velocity.v.data() + first, t.columns.start[at(i) + 1] - first};
    }
    int beside(int axis, int i, int side) const
    {
        const int f = t.faces[axis].of_column(i, side);
        return side ? t.faces[axis].after(f) : t.faces[axis].before(f);
    }

    // The rows of a face below its layer and the layer's first one: their new values. Returns how many.
    int carry_face(int axis, int f, std::vector<double>& next) const
    {
        const FaceColumns& of = t.faces[axis];
        const int left = of.before(f), right = of.after(f), fine = lowest_fine(of, t.bottom, f);
        const Profile own = face(axis, f);
        if (left < 0 || right < 0 || own.count == 0 || own.row[0] >= fine) return 0;
        int last = 0;  // the layer's first row, or the last of all
        while (last + 1 < own.count && own.row[last] < fine) ++last;
        const Profile lower = face(axis, of.of_column(left, 0)), upper = face(axis, of.of_column(right, 1));
        const Profile columns[2] = {column(left), column(right)};
        // Along the other horizontal axis: the faces beside this one, and what flows to them. None at the domain's sides.
        Profile aside[2], flow[2][2];
        const int other = 1 - axis;
        for (int side = 0; side < 2 && D == 3; ++side) {
            const int next_left = beside(other, left, side);
            if (next_left < 0) continue;
            aside[side] = face(axis, of.of_column(next_left, 1));
            flow[side][0] = face(other, t.faces[other].of_column(left, side));
            flow[side][1] = face(other, t.faces[other].of_column(right, side));
        }
        const auto average = [&](double y, int i) {
            if (i < 2) return 0.5 * (at_row(own, y) + at_row(i ? upper : lower, y));
            return 0.5 * (at_row(flow[i - 2][0], y) + at_row(flow[i - 2][1], y));
        };
        const auto out = [&](double y) {
            const double u = at_row(own, y), before = at_row(lower, y), after = at_row(upper, y);
            const double in_u = upwind(average(y, 0), before, u), out_u = upwind(average(y, 1), u, after);
            double sum = out_u * out_u - in_u * in_u;
            for (int side = 0; side < 2 && D == 3; ++side) {
                if (flow[side][0].count == 0 && flow[side][1].count == 0) continue;
                const double w = average(y, 2 + side), beyond = at_row(aside[side], y);
                sum += side ? w * upwind(w, u, beyond) : -w * upwind(w, beyond, u);
            }
            return sum;
        };
        const std::vector<int> rows(own.row, own.row + last + 1);
        next.assign(rows.size(), 0.0);
        Pieces pieces(rows.front(), rows.back() + 1);
        const Profile* const seen[] = {&own,      &lower,    &upper,      &columns[0], &columns[1], &aside[0],
                                       &aside[1], &flow[0][0], &flow[0][1], &flow[1][0], &flow[1][1]};
        for (const Profile* p : seen) pieces.add(*p);
        size_t n = 0;  // the hats that are not zero: this one and the next
        pieces.for_each(D == 3 ? 4 : 2, average, [&](int a, int b) {
            while (n + 2 < rows.size() && rows[n + 1] <= a) ++n;
            const double height = rows.size() > 1 ? rows[n + 1] - rows[n] : 1, many = b - a;
            const double away = std::sqrt((many * many - 1) / 12);
            for (const double y : {0.5 * (a + b - 1) - away, 0.5 * (a + b - 1) + away}) {
                const double flown = -0.5 * many * c * out(y), share = (y - rows[n]) / height;
                next[n] += (1 - share) * flown;
                if (rows.size() > 1) next[n + 1] += share * flown;
            }
            // Up, from each of the rows to the next: hats fall and rise by the same everywhere in between.
            const double v = 0.5 * (above_row(columns[0], a) + above_row(columns[1], a));
            const double up = c * v * many * at_row(own, 0.5 * (a + b - 1) + (v >= 0 ? 0 : 1));
            if (a == rows.back()) {
                next.back() -= up;
            } else {
                next[n] -= up / height;
                next[n + 1] += up / height;
            }
        });
        divide_by_hats(rows, next);
        for (size_t k = 0; k < rows.size(); ++k) next[k] += static_cast<double>(own.value[k]);
        return static_cast<int>(rows.size());
    }

    // The new velocity of a link.
    double carry_link(int i, int n) const
    {
        const int first = t.columns.start[at(i)], from = t.columns.row[at(n)], to = t.columns.row[at(n) + 1];
        const double v = static_cast<double>(velocity.v[at(n)]);
        double out = 0;
        for (int axis = 0; axis < D - 1; ++axis)
            for (int side = 0; side < 2; ++side) {
                const int other = beside(axis, i, side);
                if (other < 0) continue;
                const Profile through = face(axis, t.faces[axis].of_column(i, side)), beyond = column(other);
                Pieces pieces(from, to);
                pieces.add(through);
                pieces.add(beyond);
                const auto average = [&](double y, int) { return 0.5 * (at_row(through, y) + at_row(through, y + 1)); };
                pieces.for_each(1, average, [&](int a, int b) {
                    const double u = average(0.5 * (a + b - 1), 0), there = above_row(beyond, a);
                    out += (b - a) * (side ? u * upwind(u, v, there) : -u * upwind(u, there, v));
                });
            }
        const double below = n > first && t.columns.joined[at(n) - 1] ? static_cast<double>(velocity.v[at(n) - 1]) : 0.0;
        const double above = t.columns.joined[at(n) + 1] ? static_cast<double>(velocity.v[at(n) + 1]) : 0.0;
        const double from_below = upwind(0.5 * (below + v), below, v), to_above = upwind(0.5 * (v + above), v, above);
        return v - c / (to - from) * (out + to_above * to_above - from_below * from_below);
    }
};

// dt max(|u| + |v| + |w|) / h below the layer, at most.
template <int D>
double most_crossed(const TallCells<D>& t, double c)
{
    double sum = 0;
    for (int axis = 0; axis < D - 1; ++axis) {
        float most = 0;
        const FaceColumns& faces = t.faces[axis];
        for (int f = 0; f < faces.faces(); ++f) {
            const int fine = lowest_fine(faces, t.bottom, f);
            for (int k = faces.start[at(f)]; k < faces.start[at(f) + 1] && (k == faces.start[at(f)] || faces.row[at(k) - 1] < fine); ++k)
                most = std::max(most, std::fabs(t.velocity.u[axis][at(k)]));
        }
        sum += static_cast<double>(most);
    }
    float most = 0;
    for (int i = 0; i < t.columns.columns(); ++i)
        for (int n = t.columns.start[at(i)]; n < t.columns.start[at(i) + 1] && t.columns.row[at(n)] < t.bottom[at(i)]; ++n)
            most = std::max(most, std::fabs(t.velocity.v[at(n)]));
    return c * (sum + static_cast<double>(most));
}

}  // namespace

template <int D>
ColumnVelocity advect_gaps_upwind(const Water<D>& w, double dt)
{
    const TallCells<D>& t = w.tall;
    ColumnVelocity now = t.velocity, moved = t.velocity;
    constexpr int most_steps = 100;
    const double crossed = most_crossed(t, dt / w.grid.h);
    const int steps = crossed > 1 ? static_cast<int>(std::min<double>(most_steps, std::ceil(crossed))) : 1;
    for (int step = 0; step < steps; ++step) {
        const Upwind<D> upwind{t, now, dt / (w.grid.h * steps)};
        for (int axis = 0; axis < D - 1; ++axis)
            parallel_range("upwind gaps", t.faces[axis].faces(), [&](int f) {
                std::vector<double> next;
                const int count = upwind.carry_face(axis, f, next);
                for (int k = 0; k < count; ++k) moved.u[axis][at(t.faces[axis].start[at(f)] + k)] = static_cast<float>(next[at(k)]);
            });
        parallel_range("upwind gaps", t.columns.columns(), [&](int c) {
            for (int n = t.columns.start[at(c)]; n < t.columns.start[at(c) + 1] && t.columns.row[at(n)] < t.bottom[at(c)]; ++n)
                if (t.columns.joined[at(n)]) moved.v[at(n)] = static_cast<float>(upwind.carry_link(c, n));
        });
        now = moved;
    }
    return moved;
}

template <int D>
void join_upwind(Water<D>& w)
{
    const TallCells<D>& t = w.tall;
    for (int axis = 0; axis < D - 1; ++axis) {
        const FaceColumns& faces = t.faces[axis];
        const auto u = w.velocity[2 * axis].view();
        parallel_range("upwind gaps", faces.faces(), [&](int f) {
            const int first = faces.start[at(f)], end = faces.start[at(f) + 1], fine = lowest_fine(faces, t.bottom, f);
            if (first == end || faces.row[at(first)] >= fine || faces.before(f) < 0 || faces.after(f) < 0) return;
            int k = first;
            while (k < end && faces.row[at(k)] < fine) ++k;
            if (k < end) u(face_cell<D>(faces, f, faces.row[at(k)])) = t.velocity.u[axis][at(k)];
        });
    }
}

#define TARN_INSTANTIATE(D)                                             \
    template ColumnVelocity advect_gaps_upwind(const Water<D>&, double); \
    template void join_upwind(Water<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn::tall
