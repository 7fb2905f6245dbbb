// The core alone carries no library that reads meshes or images.

#include "tarn/base/error.h"
#include "tarn/shapes/load.h"

namespace tarn {

std::shared_ptr<const DistanceGrid> sample_mesh(const std::string& path, double)
{
    throw InputError("\"" + path + "\": this build of Tarn cannot read meshes; use the full build");
}

std::shared_ptr<const DistanceGrid> sample_terrain(const std::string& image, Vec3, Vec3, int, double)
{
    throw InputError("\"" + image + "\": this build of Tarn cannot read images; use the full build");
}

}  // namespace tarn
