#include "tarn/render/preview.h"
namespace tarn
{
template <>
Image preview(const Water<2>&, const Scene&, int)
{
    return {};
}
}  // namespace tarn
