#include "tarn/run/write_frame.h"

#include <filesystem>

#include "tarn/output/particles.h"
#include "tarn/output/surface.h"
#include "tarn/output/volume.h"
#include "tarn/render/preview.h"
#include "tarn/run/frames.h"

namespace fs = std::filesystem;

namespace tarn {

bool FramePaths::exist() const
{
    for (const std::string* path : {&surface, &volume, &particles, &render})
        if (!path->empty() && !fs::exists(*path)) return false;
    return true;
}

FramePaths frame_paths(const std::string& dir, const OutputParams& output, int frame)
{
    FramePaths paths;
    if (output.surface == SurfaceFormat::ply) paths.surface = frame_path(dir, "surface", frame, "ply");
    if (output.surface == SurfaceFormat::obj) paths.surface = frame_path(dir, "surface", frame, "obj");
    if (output.volume) paths.volume = frame_path(dir, "volume", frame, "vdb");
    if (output.particles) paths.particles = frame_path(dir, "particles", frame, "ply");
    if (output.preview) paths.render = frame_path(dir, "render", frame, "png");
    return paths;
}

void make_frame_folders(const std::string& dir, const OutputParams& output)
{
    const FramePaths paths = frame_paths(dir, output, 0);
    for (const std::string* path : {&paths.surface, &paths.volume, &paths.particles, &paths.render})
        if (!path->empty()) fs::create_directories(fs::path(*path).parent_path());
}

template <int D>
void write_frame(const FramePaths& paths, const Water<D>& water, const Scene& scene)
{
    const OutputParams& output = scene.params.output;
    if (!paths.surface.empty()) {
        const Mesh mesh = surface_mesh(water);
        output.surface == SurfaceFormat::obj ? write_obj(paths.surface, mesh) : write_ply(paths.surface, mesh);
    }
    if (!paths.volume.empty()) write_vdb(paths.volume, water);
    if (!paths.particles.empty()) write_particles(paths.particles, drops_of(water, scene.params.fragments));
    if (!paths.render.empty()) write_png(paths.render, preview(water, scene, output.preview_width));
}
template void write_frame<2>(const FramePaths&, const Water<2>&, const Scene&);
template void write_frame<3>(const FramePaths&, const Water<3>&, const Scene&);

}  // namespace tarn
