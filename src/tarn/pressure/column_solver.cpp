#include "tarn/pressure/column_solver.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tarn/backend/parallel.h"

namespace tarn {

namespace {

constexpr int fine_sweeps = 1, coarse_sweeps = 2, coarsest_sweeps = 10;

size_t at(int n) { return static_cast<size_t>(n); }

// Calls f for every column, or those of one colour of the chess board.
template <class F>
void for_columns(const char* name, const TallColumns& c, const F& f, int colour = -1)
{
    constexpr int block = 64;
    const int nx = c.count[0], n = c.columns();
    backend::blocks(name, (n + block - 1) / block, c.nodes(), [&](int b) {
        for (int i = b * block; i < std::min(n, (b + 1) * block); ++i)
            if (colour < 0 || ((i % nx + i / nx) & 1) == colour) f(i);
    });
}

// The sum of a value of every node, in an order that does not depend on threads.
template <class F>
double sum_nodes(int n, const F& f)
{
    constexpr int block = 4096;
    const int blocks = (n + block - 1) / block;
    std::vector<double> partial(at(blocks));
    parallel_range("column sums", blocks, [&](int b) {
        double sum = 0;
        for (int i = b * block; i < std::min(n, (b + 1) * block); ++i) sum += f(i);
        partial[at(b)] = sum;
    });
    return std::accumulate(partial.begin(), partial.end(), 0.0);
}
template <class F>
float max_nodes(int n, const F& f)
{
    constexpr int block = 4096;
    const int blocks = (n + block - 1) / block;
    std::vector<float> partial(at(blocks));
    parallel_range("column maxima", blocks, [&](int b) {
        float most = 0;
        for (int i = b * block; i < std::min(n, (b + 1) * block); ++i) {
            const float v = f(i);
            if (v > most || std::isnan(v)) most = v;
        }
        partial[at(b)] = most;
    });
    float most = 0;
    for (const float v : partial)
        if (v > most || std::isnan(v)) most = v;
    return most;
}

float value(const float* x, Between b)
{
    return b.node < 0 ? 0.0f : (b.part > 0 ? x[b.node] + b.part * (x[b.node + 1] - x[b.node]) : x[b.node]);
}

// The rows of a face at which both columns have nodes, one after the other, but for the first and the last of them.
ColumnLevel::Run find_run(const FaceColumns& faces, int f)
{
    const auto plain = [&](int k) {
        const Between a = faces.lower[at(k)], b = faces.upper[at(k)];
        return a.node >= 0 && b.node >= 0 && !(a.part > 0) && !(b.part > 0);
    };
    const int first = faces.start[at(f)], end = faces.start[at(f) + 1];
    ColumnLevel::Run best{first, first};
    for (int from = first; from < end;) {
        if (!plain(from)) {
            ++from;
            continue;
        }
        int to = from + 1;
        while (to < end && plain(to) && faces.lower[at(to)].node == faces.lower[at(to) - 1].node + 1 &&
               faces.upper[at(to)].node == faces.upper[at(to) - 1].node + 1)
            ++to;
        if (to - from - 2 > best.to - best.from) best = {from + 1, to - 1};
        from = to;
    }
    return best;
}

// Adds to y, of column c from its first node on, what the columns around it bring: - (A - own block) x.
void add_neighbours(const ColumnLevel& level, int c, const float* x, float* y)
{
    y -= level.columns.start[at(c)];
    for (int axis = 0; axis < 2; ++axis) {
        const FaceColumns& faces = level.faces[axis];
        if (faces.rows() == 0) continue;
        const float *const weight = level.weight[axis].data(), *const next = faces.next.data();
        for (int side = 0; side < 2; ++side) {
            const int f = faces.of_column(c, side), first = faces.start[at(f)], end = faces.start[at(f) + 1];
            const Between *const mine = (side ? faces.lower : faces.upper).data(), *const other = (side ? faces.upper : faces.lower).data();
            const ColumnLevel::Run run = level.runs[axis][at(f)];
            const auto add = [&](int k) {
                const Between to = mine[k];
                if (to.node < 0) return;
                float flow = weight[k] * value(x, other[k]);
                if (k + 1 < end && next[k] > 0) flow += next[k] * value(x, other[k + 1]);
                if (k > first && next[k - 1] > 0) flow += next[k - 1] * value(x, other[k - 1]);
                y[to.node] += (1 - to.part) * flow;
                if (to.part > 0) y[to.node + 1] += to.part * flow;
            };
            for (int k = first; k < run.from; ++k) add(k);
            if (run.to > run.from) {
                float* const to = y + mine[run.from].node;
                const float *const from = x + other[run.from].node, *const w = weight + run.from, *const upper = next + run.from;
                const int n = run.to - run.from;
                TARN_INDEPENDENT
                for (int k = 0; k < n; ++k) to[k] += w[k] * from[k] + upper[k] * from[k + 1] + upper[k - 1] * from[k - 1];
            }
            for (int k = run.to; k < end; ++k) add(k);
        }
    }
}

// A column's own tridiagonal system.
void make_block(ColumnLevel& level, int c)
{
    const int first = level.columns.start[at(c)], end = level.columns.start[at(c) + 1];
    float *const diagonal = level.diagonal.data(), *const off = level.off.data(), *const pivot = level.pivot.data();
    for (int n = first; n < end; ++n) {
        diagonal[n] = level.dirichlet[at(n)];
        off[n] = 0;
    }
    for (int n = first; n + 1 < end; ++n) {
        const float w = level.link[at(n)];
        diagonal[n] += w;
        diagonal[n + 1] += w;
        off[n] -= w;
    }
    for (const FaceColumns& faces : level.faces) {
        if (faces.rows() == 0) continue;
        for (int side = 0; side < 2; ++side) {
            const int f = faces.of_column(c, side);
            const std::vector<Between>& mine = side ? faces.lower : faces.upper;
            for (int k = faces.start[at(f)]; k < faces.start[at(f) + 1]; ++k) {
                const Between to = mine[at(k)];
                if (to.node < 0) continue;
                const float w = faces.scale[at(k)] * faces.own[at(k)], t = to.part;
                diagonal[to.node] += (1 - t) * (1 - t) * w;
                if (t > 0) {
                    diagonal[to.node + 1] += t * t * w;
                    off[to.node] += t * (1 - t) * w;
                }
                const float both = faces.next[at(k)];
                if (!(both > 0)) continue;
                // The next row lies in the same gap, or at its upper end.
                const Between last = mine[at(k) + 1];
                const float s = last.node == to.node ? last.part : 1;
                diagonal[to.node] += 2 * (1 - t) * (1 - s) * both;
                diagonal[to.node + 1] += 2 * t * s * both;
                off[to.node] += ((1 - t) * s + t * (1 - s)) * both;
            }
        }
    }
    float before = 0;
    for (int n = first; n < end; ++n) {
        // A node that nothing is tied to keeps the value 0.
        const float d = n > first ? diagonal[n] - off[n - 1] * off[n - 1] * before : diagonal[n];
        before = pivot[n] = d > 1e-7f * diagonal[n] ? 1 / d : (diagonal[n] > 0 ? 1 / diagonal[n] : 0.0f);
    }
}

// x of a column from its right-hand side, in place.
void solve_block(const ColumnLevel& level, int c, float* x)
{
    const int first = level.columns.start[at(c)], end = level.columns.start[at(c) + 1];
    const float *const off = level.off.data(), *const pivot = level.pivot.data();
    for (int n = first + 1; n < end; ++n) x[n] -= off[n - 1] * pivot[n - 1] * x[n - 1];
    if (end > first) x[end - 1] *= pivot[end - 1];
    for (int n = end - 2; n >= first; --n) x[n] = pivot[n] * x[n] - off[n] * pivot[n] * x[n + 1];
}

// Gives the columns of one colour the values that their neighbours ask for.
void smooth(const ColumnLevel& level, std::vector<float>& x, const std::vector<float>& b, int colour, bool from_zero)
{
    for_columns(
        "column smoothing", level.columns,
        [&](int c) {
            float* const own = x.data() + level.columns.start[at(c)];
            std::copy(b.begin() + level.columns.start[at(c)], b.begin() + level.columns.start[at(c) + 1], own);
            if (!from_zero) add_neighbours(level, c, x.data(), own);
            solve_block(level, c, x.data());
        },
        colour);
}

// y of column c = A x.
void multiply(const ColumnLevel& level, int c, const float* x, float* y)
{
    const int first = level.columns.start[at(c)], end = level.columns.start[at(c) + 1];
    for (int n = first; n < end; ++n) y[n] = 0;
    add_neighbours(level, c, x, y + first);
    const float *const diagonal = level.diagonal.data(), *const off = level.off.data();
    for (int n = first; n < end; ++n) {
        float s = diagonal[n] * x[n];
        if (n > first) s += off[n - 1] * x[n - 1];
        if (n + 1 < end) s += off[n] * x[n + 1];
        y[n] = s - y[n];
    }
}

// The columns that a coarse one is made of, -1 where there are fewer.
struct Children {
    int column[4] = {-1, -1, -1, -1};
};
Children children_of(const TallColumns& fine, const TallColumns& coarse, int c)
{
    Children r;
    const int i = c % coarse.count[0], k = c / coarse.count[0];
    for (int n = 0; n < 4; ++n) {
        const int x = 2 * i + n % 2, z = (coarse.count[1] == fine.count[1] ? k : 2 * k) + n / 2;
        const bool there = x < fine.count[0] && z < fine.count[1] && !(n / 2 && coarse.count[1] == fine.count[1]);
        if (there) r.column[n] = x + fine.count[0] * z;
    }
    return r;
}

// The nodes of the coarse columns, and where the fine ones go.
void coarsen_columns(ColumnLevel& fine, ColumnLevel& coarse)
{
    const TallColumns& from = fine.columns;
    TallColumns& to = coarse.columns;
    for (int a = 0; a < 2; ++a) to.count[a] = (from.count[a] + 1) / 2;
    fine.coarse.resize(from.row.size());
    // Blocks of columns by themselves, then joined in order.
    struct Part {
        std::vector<int> count, row;
    };
    constexpr int block = 64;
    std::vector<Part> parts(at((to.columns() + block - 1) / block));
    backend::blocks("coarse columns", static_cast<int>(parts.size()), from.nodes(), [&](int b) {
        Part& part = parts[at(b)];
        std::vector<int> rows;
        for (int c = b * block; c < std::min(to.columns(), (b + 1) * block); ++c) {
            rows.clear();
            const Children children = children_of(from, to, c);
            for (const int child : children.column)
                if (child >= 0)
                    rows.insert(rows.end(), from.row.begin() + from.start[at(child)], from.row.begin() + from.start[at(child) + 1]);
            std::sort(rows.begin(), rows.end());
            rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
            for (const int child : children.column) {
                if (child < 0) continue;
                size_t place = 0;
                for (int n = from.start[at(child)]; n < from.start[at(child) + 1]; ++n) {
                    while (rows[place] < from.row[at(n)]) ++place;
                    fine.coarse[at(n)] = static_cast<int>(place);  // in its column
                }
            }
            part.row.insert(part.row.end(), rows.begin(), rows.end());
            part.count.push_back(static_cast<int>(rows.size()));
        }
    });
    to.start.assign(1, 0);
    to.row.clear();
    for (const Part& part : parts) {
        to.row.insert(to.row.end(), part.row.begin(), part.row.end());
        for (const int count : part.count) to.start.push_back(to.start.back() + count);
    }
    to.joined.assign(to.row.size(), 0);
    const size_t n = to.row.size();
    coarse.link.assign(n, 0);
    coarse.dirichlet.assign(n, 0);
    for_columns("coarse links", to, [&](int c) {
        for (const int child : children_of(from, to, c).column) {
            if (child < 0) continue;
            const int first = from.start[at(child)], end = from.start[at(child) + 1];
            for (int m = first; m < end; ++m) fine.coarse[at(m)] += to.start[at(c)];
            for (int m = first; m < end; ++m) {
                const int a = fine.coarse[at(m)];
                coarse.dirichlet[at(a)] += fine.dirichlet[at(m)];
                if (!from.joined[at(m)]) continue;
                const int b = fine.coarse[at(m) + 1];
                const float length = static_cast<float>(from.row[at(m) + 1] - from.row[at(m)]);
                for (int i = a; i < b; ++i) {
                    to.joined[at(i)] = 1;
                    coarse.link[at(i)] += fine.link[at(m)] * length / static_cast<float>(to.row[at(i) + 1] - to.row[at(i)]);
                }
            }
        }
    });
}

// The fine faces that lie on one between coarse columns: across the axis one or two. Returns how many.
int faces_on(const ColumnLevel& fine, const ColumnLevel& coarse, const FaceColumns& to, int f, int (&found)[2])
{
    const int axis = to.axis, i = f % to.count[0], k = f / to.count[0];
    const FaceColumns& from = fine.faces[axis];
    const int across = axis == 0 ? k : i, most = axis == 0 ? fine.columns.count[1] : fine.columns.count[0];
    const int here = axis == 0 ? i : k, place = here == coarse.columns.count[axis] ? fine.columns.count[axis] : 2 * here;
    const bool halved = (axis == 0 ? coarse.columns.count[1] : coarse.columns.count[0]) != most;
    int count = 0;
    for (int n = 0; n < (halved ? 2 : 1); ++n) {
        const int other = halved ? 2 * across + n : across;
        if (other >= most) continue;
        found[count++] = axis == 0 ? place + from.count[0] * other : other + from.count[0] * place;
    }
    return count;
}

// Adds the rows of coarse face f, with what is open of the fine ones there.
void coarsen_face(const ColumnLevel& fine, const ColumnLevel& coarse, const FaceColumns& like, int f, FaceColumns& to)
{
    const FaceColumns& from = fine.faces[like.axis];
    const int before = like.before(f), after = like.after(f);
    const bool wall = before < 0 || after < 0;
    int found[2], at_row[2] = {0, 0};
    const int count = faces_on(fine, coarse, like, f, found);
    for (int n = 0; n < count; ++n) at_row[n] = from.start[at(found[n])];
    merge_rows(coarse.columns, before, after, [&](int y, Between lower, Between upper) {
        float open = 0, mean = 0;
        for (int n = 0; n < count; ++n) {
            const int end = from.start[at(found[n]) + 1];
            while (at_row[n] + 1 < end && from.row[at(at_row[n]) + 1] <= y) ++at_row[n];
            const int r = at_row[n];
            if (r >= end || from.row[at(r)] > y) continue;
            const bool one_sided = from.lower[at(r)].node < 0 || from.upper[at(r)].node < 0;
            if (one_sided && !wall) continue;
            if (from.row[at(r)] == y) open += from.scale[at(r)] * from.open[at(r)];
            else open += from.mean[at(r)];
            mean += from.mean[at(r)];
        }
        if ((lower.node < 0 || upper.node < 0) && !wall) return;
        if ((lower.node < 0 && upper.node < 0) || (!(open > 0) && !(mean > 0))) return;
        const float part = wall ? 1.0f : 0.5f;
        to.row.push_back(y);
        to.lower.push_back(lower);
        to.upper.push_back(upper);
        to.open.push_back(part * open);
        to.mean.push_back(part * mean);
    });
}

// The faces of one axis between coarse columns, and what becomes a Dirichlet term: a face to air within the domain.
void coarsen_faces(const ColumnLevel& fine, ColumnLevel& coarse, int axis)
{
    const FaceColumns& from = fine.faces[axis];
    FaceColumns to = std::move(coarse.faces[axis]);
    coarse.faces[axis] = {};
    if (from.rows() == 0) return;
    const FaceColumns empty = face_columns(coarse.columns, axis);
    to.axis = axis;
    std::copy(empty.count, empty.count + 2, to.count);
    for (int f = 0; f < from.faces(); ++f) {
        if (from.before(f) < 0 || from.after(f) < 0) continue;
        for (int k = from.start[at(f)]; k < from.start[at(f) + 1]; ++k) {
            const Between lower = from.lower[at(k)], upper = from.upper[at(k)];
            if (lower.node >= 0 && upper.node >= 0) continue;
            const int n = lower.node >= 0 ? lower.node : upper.node;
            coarse.dirichlet[at(fine.coarse[at(n)])] += from.scale[at(k)] * from.own[at(k)];
        }
    }
    constexpr int block = 64;
    std::vector<FaceColumns> parts(at((to.faces() + block - 1) / block));
    backend::blocks("coarse faces", static_cast<int>(parts.size()), from.rows(), [&](int b) {
        FaceColumns& part = parts[at(b)];
        for (int f = b * block; f < std::min(to.faces(), (b + 1) * block); ++f) {
            const int first = part.rows();
            coarsen_face(fine, coarse, empty, f, part);
            part.start.push_back(part.rows() - first);
        }
    });
    to.start.assign(1, 0);
    to.row.clear(), to.lower.clear(), to.upper.clear(), to.open.clear(), to.mean.clear();
    for (FaceColumns& part : parts) {
        const auto join = [](auto& all, const auto& more) { all.insert(all.end(), more.begin(), more.end()); };
        for (const int count : part.start) to.start.push_back(to.start.back() + count);
        join(to.row, part.row), join(to.lower, part.lower), join(to.upper, part.upper);
        join(to.open, part.open), join(to.mean, part.mean);
        part = {};
    }
    to.scale.assign(to.row.size(), 1);
    to.own = to.open;
    to.next.assign(to.row.size(), 0);
    parallel_range("coarse faces", to.faces(), [&](int f) {
        for (int k = to.start[at(f)]; k + 1 < to.start[at(f) + 1]; ++k) {
            const bool lower = to.before(f) < 0 || same_water(coarse.columns, to.lower[at(k)], to.lower[at(k) + 1]);
            const bool upper = to.after(f) < 0 || same_water(coarse.columns, to.upper[at(k)], to.upper[at(k) + 1]);
            const int n = to.row[at(k) + 1] - to.row[at(k)];
            if (!lower || !upper) to.mean[at(k)] = 0;
            if (n < 2 || !(to.mean[at(k)] > 0)) continue;
            const HatSums sums = hat_sums(n);
            to.own[at(k)] += to.mean[at(k)] * static_cast<float>(sums.lower);
            to.own[at(k) + 1] += to.mean[at(k)] * static_cast<float>(sums.upper);
            to.next[at(k)] = to.mean[at(k)] * static_cast<float>(sums.both);
        }
    });
    coarse.faces[axis] = std::move(to);
}

void finish(ColumnLevel& level)
{
    const size_t n = level.columns.row.size();
    for (auto* v : {&level.diagonal, &level.off, &level.pivot}) v->resize(n + 1);
    for_columns("column blocks", level.columns, [&](int c) { make_block(level, c); });
    for (int axis = 0; axis < 2; ++axis) {
        const FaceColumns& faces = level.faces[axis];
        level.runs[axis].resize(at(faces.faces()));
        level.weight[axis].resize(at(faces.rows()));
        parallel_range("column runs", faces.rows() > 0 ? faces.faces() : 0, [&](int f) {
            level.runs[axis][at(f)] = find_run(faces, f);
            for (int k = faces.start[at(f)]; k < faces.start[at(f) + 1]; ++k)
                level.weight[axis][at(k)] = faces.own[at(k)] * faces.scale[at(k)];
        });
    }
}

}  // namespace

void ColumnSolver::build()
{
    finish(levels_[0]);
    find_components();
    size_t l = 0;
    for (; levels_[l].columns.count[0] > 1 || levels_[l].columns.count[1] > 1; ++l) {
        if (l + 1 == levels_.size()) levels_.emplace_back();
        ColumnLevel &fine = levels_[l], &coarse = levels_[l + 1];
        coarsen_columns(fine, coarse);
        for (int axis = 0; axis < 2; ++axis) coarsen_faces(fine, coarse, axis);
        finish(coarse);
        coarse.x.resize(coarse.columns.row.size() + 1);
        coarse.b.resize(coarse.columns.row.size() + 1);
    }
    levels_.resize(l + 1);
}

// Pieces of water that touch no surface: what flows into them must flow out, and their pressure is known up to a constant.
void ColumnSolver::find_components()
{
    const ColumnLevel& level = levels_[0];
    const int n = level.columns.nodes();
    std::vector<int> root(at(n));
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](int i) {
        while (root[at(i)] != i) i = root[at(i)] = root[at(root[at(i)])];
        return i;
    };
    const auto unite = [&](int i, int j) {
        const int a = find(i), b = find(j);
        if (a != b) root[at(std::max(a, b))] = std::min(a, b);
    };
    for (int i = 0; i < n; ++i)
        if (level.link[at(i)] > 0) unite(i, i + 1);
    std::vector<uint8_t> tied(at(n), 0);
    for (const FaceColumns& faces : level.faces)
        for (int k = 0; k < faces.rows(); ++k) {
            if (!(faces.own[at(k)] > 0)) continue;
            const Between a = faces.lower[at(k)], b = faces.upper[at(k)];
            if (a.node >= 0 && b.node >= 0) unite(a.node, b.node);
            else tied[at(a.node >= 0 ? a.node : b.node)] = 1;
        }
    std::vector<uint8_t> surface(at(n), 0);
    for (int i = 0; i < n; ++i)
        if (tied[at(i)] || level.dirichlet[at(i)] > 0) surface[at(find(i))] = 1;
    pocket_.clear();
    pocket_rows_.clear();
    std::vector<int> number(at(n), -1);
    for (int i = 0; i < n; ++i) {
        const int r = find(i);
        if (surface[at(r)] || !(level.diagonal[at(i)] > 0)) continue;
        if (pocket_.empty()) pocket_.assign(at(n), -1);
        if (number[at(r)] < 0) {
            number[at(r)] = static_cast<int>(pocket_rows_.size());
            pocket_rows_.push_back(0);
        }
        pocket_[at(i)] = number[at(r)];
        pocket_rows_[at(number[at(r)])] += level.rows[at(i)];
    }
}

void ColumnSolver::remove_means(std::vector<float>& f) const
{
    if (pocket_.empty()) return;
    std::vector<double> sum(pocket_rows_.size(), 0.0);
    for (size_t i = 0; i < pocket_.size(); ++i)
        if (pocket_[i] >= 0) sum[at(pocket_[i])] += f[i];
    for (size_t i = 0; i < pocket_.size(); ++i)
        if (pocket_[i] >= 0)
            f[i] -= static_cast<float>(sum[at(pocket_[i])] / pocket_rows_[at(pocket_[i])] * levels_[0].rows[i]);
}

void ColumnSolver::cycle(size_t l, std::vector<float>& x, const std::vector<float>& b)
{
    ColumnLevel& level = levels_[l];
    const bool coarsest = l + 1 == levels_.size();
    const int sweeps = coarsest ? coarsest_sweeps : (l == 0 ? fine_sweeps : coarse_sweeps);
    // With columns of the other colour at zero the first ones stand alone.
    std::fill(x.begin(), x.end(), 0.0f);
    for (int s = 0; s < sweeps; ++s)
        for (int colour = 0; colour < 2; ++colour) smooth(level, x, b, colour, s == 0 && colour == 0);
    if (!coarsest) {
        ColumnLevel& coarse = levels_[l + 1];
        // TallColumns of the second colour have none left.
        std::fill(coarse.b.begin(), coarse.b.end(), 0.0f);
        std::vector<float>& product = level.r;
        product.resize(x.size());
        for_columns("column residual", level.columns, [&](int c) { multiply(level, c, x.data(), product.data()); }, 0);
        const TallColumns& from = level.columns;
        for_columns("column restriction", coarse.columns, [&](int c) {
            for (const int child : children_of(from, coarse.columns, c).column) {
                if (child < 0 || ((child % from.count[0] + child / from.count[0]) & 1)) continue;
                for (int n = from.start[at(child)]; n < from.start[at(child) + 1]; ++n)
                    coarse.b[at(level.coarse[at(n)])] += b[at(n)] - product[at(n)];
            }
        });
        cycle(l + 1, coarse.x, coarse.b);
        parallel_range("column correction", from.nodes(), [&](int n) { x[at(n)] += coarse.x[at(level.coarse[at(n)])]; });
    }
    for (int s = 0; s < sweeps; ++s)
        for (int colour = 1; colour >= 0; --colour) smooth(level, x, b, colour, false);
}

void ColumnSolver::precondition(std::vector<float>& z, const std::vector<float>& r) { cycle(0, z, r); }

void ColumnSolver::product(const std::vector<float>& x, std::vector<float>& y) const
{
    for_columns("column product", levels_[0].columns, [&](int c) { multiply(levels_[0], c, x.data(), y.data()); });
}

SolveReport ColumnSolver::solve(std::vector<float>& x, std::vector<float>& b, const Goal& goal, const SharedProduct& shared)
{
    const int n = unknowns();
    const std::vector<float>& rows = levels_[0].rows;
    // A place is read past the last node where a row lies on it.
    for (auto* v : {&x, &b, &r_, &z_, &p_, &ap_}) v->resize(at(n) + 1);
    remove_means(b);
    const auto largest_of = [&](const std::vector<float>& f) {
        return static_cast<double>(max_nodes(n, [&](int i) { return std::fabs(f[at(i)]) / rows[at(i)]; }));
    };
    const double scale = scale_of(goal, largest_of(b));
    if (!(scale > 0)) {
        std::fill(x.begin(), x.end(), 0.0f);
        return {.converged = scale == 0, .iterations = 0, .residual = scale};
    }
    SolveReport report;
    report.converged = false;
    product(x, ap_);
    if (shared) shared(x, ap_);
    parallel_range("column residual", n, [&](int i) { r_[at(i)] = b[at(i)] - ap_[at(i)]; });
    remove_means(r_);
    report.residual = largest_of(r_) / scale;
    // The uniform grid's solve goes one iteration at least, too.
    if (report.residual == 0) report.converged = true;
    double before = 0;
    while (!report.converged && report.iterations < goal.max_iterations) {
        ++report.iterations;
        precondition(z_, r_);
        const double rz = sum_nodes(n, [&](int i) { return static_cast<double>(r_[at(i)]) * z_[at(i)]; });
        const float beta = before > 0 ? static_cast<float>(rz / before) : 0.0f;
        before = rz;
        parallel_range("column direction", n, [&](int i) { p_[at(i)] = z_[at(i)] + (beta > 0 ? beta * p_[at(i)] : 0.0f); });
        product(p_, ap_);
        if (shared) shared(p_, ap_);
        const double pap = sum_nodes(n, [&](int i) { return static_cast<double>(p_[at(i)]) * ap_[at(i)]; });
        if (!(pap > 0)) break;
        const float alpha = static_cast<float>(rz / pap);
        parallel_range("column advance", n, [&](int i) {
            x[at(i)] += alpha * p_[at(i)];
            r_[at(i)] -= alpha * ap_[at(i)];
        });
        remove_means(r_);
        report.residual = largest_of(r_) / scale;
        report.converged = report.residual <= goal.tolerance;
    }
    return report;
}

}  // namespace tarn
