#include "tarn/field/field.h"

#include "tarn/backend/parallel.h"

namespace tarn {

template <int D>
Field<D> distance_field(const Grid<D>& grid, float value)
{
    Field<D> f(grid);
    f.fill(outside);
    const auto v = f.view();
    parallel_for<true>("distance", all_tiles(grid), [=] TARN_KERNEL(Cell<D> c) { v(c) = value; });
    return f;
}

template Field<2> distance_field(const Grid<2>&, float);
template Field<3> distance_field(const Grid<3>&, float);

}  // namespace tarn
