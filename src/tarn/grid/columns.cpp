#include "tarn/grid/columns.h"

#include <algorithm>

namespace tarn {

FaceColumns face_columns(const TallColumns& columns, int axis)
{
    FaceColumns f;
    f.axis = axis;
    for (int a = 0; a < 2; ++a) f.count[a] = columns.count[a] + (a == axis);
    f.start.assign(static_cast<size_t>(f.faces()) + 1, 0);
    return f;
}

Between find_row(const TallColumns& columns, int column, int row)
{
    const auto begin = columns.row.begin() + columns.start[static_cast<size_t>(column)];
    const auto end = columns.row.begin() + columns.start[static_cast<size_t>(column) + 1];
    const auto above = std::upper_bound(begin, end, row);
    if (above == begin) return {};
    const int n = static_cast<int>(above - columns.row.begin()) - 1;
    const int from = columns.row[static_cast<size_t>(n)];
    if (from == row) return {n, 0};
    if (above == end || !columns.joined[static_cast<size_t>(n)]) return {};
    return {n, static_cast<float>(row - from) / static_cast<float>(*above - from)};
}

}  // namespace tarn
