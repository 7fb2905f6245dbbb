// Stands in for tall cells where they cannot be: on a GPU, whose kernels know no columns, and in the playground.

#include "tarn/base/error.h"
#include "tarn/step/tall.h"

namespace tarn {

namespace tall {

template <int D>
Water<D> initial_water(const Scene&)
{
    throw InputError("method.grid: \"tall\" needs a processor and the program itself; use `tarn run` without --backend, or "
                     "choose \"uniform\"");
}
// The others are never called.
template <int D>
StepReport step(Water<D>&, const Scene&, double)
{
    return {};
}
template <int D>
void restore(Water<D>&, const Scene&)
{
}
template <int D>
void make_cells(Water<D>&, const Scene&)
{
}
template <int D>
void refine_around_movers(Water<D>&, const Scene&, double)
{
}
template <int D>
void keep_layer(const Water<D>&, std::vector<uint8_t>&)
{
}
template <int D>
bool is_whole(const Water<D>&, size_t)
{
    return false;
}
template <int D>
VelocityAt<D> velocity_anywhere(const Water<D>&)
{
    return {};
}
template <int D>
double volume_below(const Water<D>&)
{
    return 0;
}
template <int D>
Below measure_below(const Water<D>&, const Vec<D>&)
{
    return {};
}

}  // namespace tall

#define TARN_INSTANTIATE(D)                                              \
    template Water<D> tall::initial_water(const Scene&);                 \
    template StepReport tall::step(Water<D>&, const Scene&, double);     \
    template void tall::restore(Water<D>&, const Scene&);                \
    template void tall::make_cells(Water<D>&, const Scene&);             \
    template void tall::refine_around_movers(Water<D>&, const Scene&, double); \
    template void tall::keep_layer(const Water<D>&, std::vector<uint8_t>&); \
    template bool tall::is_whole(const Water<D>&, size_t);               \
    template VelocityAt<D> tall::velocity_anywhere(const Water<D>&);     \
    template double tall::volume_below(const Water<D>&);                 \
    template tall::Below tall::measure_below(const Water<D>&, const Vec<D>&);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
