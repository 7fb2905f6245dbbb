#pragma once
// Tall cells: columns of a uniform grid that keep every row near the surface and ever fewer below it.   [IGLF06] §3
//
// A column has nodes at some of its rows: cells whose pressure is an unknown. Between two nodes the pressure is linear, as
// in [IGLF06] between the ends of a tall cell; so tall cells are a subspace of the uniform grid, and the system is
// A = P^T A_uniform P, where P interpolates along y. Nodes that are neighbours in the grid leave nothing out between them:
// with all rows it is the uniform grid.
//
// On the faces between two columns the pressure's gradient is linear between the nodes of both: the velocity has values at
// those rows ("minimal faces"). Its divergence is weighted with the hat functions N of the nodes, sum_j N(j) o_j u_j over the
// rows j with the open fractions o: on a face's own rows that is a symmetric tridiagonal matrix, here `own` and `next`.
//
// TallColumns are counted along x, then z, in 2D with one along z. A host's arrays: no GPU has them.

#include <cstddef>
#include <vector>

namespace tarn {

// Nodes of all columns, each from below. Of those in one piece of water each is joined to the next.
struct TallColumns {
    int count[2] = {0, 1};        // along x and z
    std::vector<int> start;       // first node of each column; one more at the end
    std::vector<int> row;
    std::vector<int> joined;       // to the next node: the rows between are water

    int columns() const { return count[0] * count[1]; }
    int nodes() const { return static_cast<int>(row.size()); }
    bool operator==(const TallColumns&) const = default;
};

// Where a row lies among the nodes of a column: at `node`, or so far on the way to the next one. -1: in no water.
struct Between {
    int node = -1;
    float part = 0;
};

// The faces between columns along one axis: x (0) or z (1). Face f has the column before it and the one after it, -1 past the
// domain's sides.
struct FaceColumns {
    int axis = 0, count[2] = {0, 1};
    std::vector<int> start;            // first row of each face; one more at the end
    std::vector<int> row;
    std::vector<Between> lower, upper;  // in the columns before and after
    // Of a row: the open fraction, and the mean of those of the rows between it and the next; 0 where those are no water.
    std::vector<float> open, mean;
    std::vector<float> own, next;  // sums of hats times hats times open fractions
    std::vector<float> scale;      // of the gradient: beside air, one over the distance to the surface in cells

    int faces() const { return count[0] * count[1]; }
    int rows() const { return static_cast<int>(row.size()); }
    int before(int f) const
    {
        const int i = f % count[0], k = f / count[0];
        if (axis == 0) return i > 0 ? i - 1 + (count[0] - 1) * k : -1;
        return k > 0 ? i + count[0] * (k - 1) : -1;
    }
    int after(int f) const
    {
        const int i = f % count[0], k = f / count[0];
        if (axis == 0) return i < count[0] - 1 ? i + (count[0] - 1) * k : -1;
        return k < count[1] - 1 ? i + count[0] * k : -1;
    }
    // The lower (0) or upper (1) face of a column.
    int of_column(int c, int side) const
    {
        if (axis == 1) return c + side * count[0];
        const int n = count[0] - 1;
        return c % n + side + count[0] * (c / n);
    }
};

// The faces of columns so many along x and z, without rows.
FaceColumns face_columns(const TallColumns& columns, int axis);

// Where a row lies in a column.
Between find_row(const TallColumns& columns, int column, int row);

// Calls f(row, lower, upper) for every row at which one of two columns has a node, from below; -1 is a column of nothing.
template <class F>
void merge_rows(const TallColumns& c, int a, int b, const F& f)
{
    const auto first = [&](int column) { return column < 0 ? 0 : c.start[static_cast<std::size_t>(column)]; };
    const auto last = [&](int column) { return column < 0 ? 0 : c.start[static_cast<std::size_t>(column) + 1]; };
    const auto row = [&](int n) { return c.row[static_cast<std::size_t>(n)]; };
    int i = first(a), j = first(b);
    const int i_end = last(a), j_end = last(b);
    // A row between two nodes of a column belongs to it where they are joined.
    const auto place = [&](int n, int from, int end, int y) {
        if (n < end && row(n) == y) return Between{n, 0};
        if (n == from || n == end || !c.joined[static_cast<std::size_t>(n) - 1]) return Between{};
        return Between{n - 1, static_cast<float>(y - row(n - 1)) / static_cast<float>(row(n) - row(n - 1))};
    };
    while (i < i_end || j < j_end) {
        const int y = j == j_end || (i < i_end && row(i) < row(j)) ? row(i) : row(j);
        f(y, place(i, first(a), i_end, y), place(j, first(b), j_end, y));
        if (i < i_end && row(i) == y) ++i;
        if (j < j_end && row(j) == y) ++j;
    }
}

// Whether the rows between two places, that follow each other on a face, are water.
inline bool same_water(const TallColumns& c, Between from, Between to)
{
    return from.node >= 0 && to.node >= 0 && (from.node == to.node || c.joined[static_cast<std::size_t>(from.node)]);
}

// The sums over the rows strictly between two, n apart, of the products of their hat functions, if all are open.
struct HatSums {
    double lower, both, upper;
};
inline HatSums hat_sums(int n)
{
    const double m = n, square = (m - 1) * (2 * m - 1) / (6 * m);
    return {square, (m * m - 1) / (6 * m), square};
}

}  // namespace tarn
