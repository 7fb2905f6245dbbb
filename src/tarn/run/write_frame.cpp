#include "tarn/run/write_frame.h"

#include <filesystem>

#include "tarn/output/numpy.h"
#include "tarn/output/particles.h"
#include "tarn/output/surface.h"
#include "tarn/output/usd.h"
#include "tarn/output/volume.h"
#include "tarn/output/vtk.h"
#include "tarn/render/preview.h"
#include "tarn/run/frames.h"

namespace fs = std::filesystem;

namespace tarn {

namespace {

const char* ending(SurfaceFormat format)
{
    switch (format) {
        case SurfaceFormat::ply:
            return "ply";
        case SurfaceFormat::obj:
            return "obj";
        case SurfaceFormat::usd:
            return "usda";
        case SurfaceFormat::vtp:
            return "vtp";
        case SurfaceFormat::none:
            break;
    }
    return "";
}

const char* ending(VolumeFormat format)
{
    switch (format) {
        case VolumeFormat::vdb:
            return "vdb";
        case VolumeFormat::vti:
            return "vti";
        case VolumeFormat::npz:
            break;
    }
    return "npz";
}

void write_mesh(const std::string& path, SurfaceFormat format, const Mesh& mesh, double time)
{
    if (format == SurfaceFormat::obj)
        write_obj(path, mesh);
    else if (format == SurfaceFormat::vtp)
        write_vtp(path, mesh, time);
    else
        write_ply(path, mesh);
}

template <int D>
void write_surface(const FramePaths& paths, const Water<D>& water, const OutputParams& output)
{
    const Mesh mesh = surface_mesh(water);
    if (output.surface != SurfaceFormat::usd) return write_mesh(paths.surface, output.surface, mesh, water.time);
    const std::vector<Drop> spray = drops_of(water);
    write_usd(paths.surface, paths.frame, mesh, output.particles ? &spray : nullptr);
}

void write_solids(const FramePaths& paths, const Water<3>& water, const Scene& scene)
{
    const Mesh mesh = solid_mesh(scene.solids, water.grid, water.time);
    const SurfaceFormat format = scene.params.output.surface;
    if (format == SurfaceFormat::usd)
        write_usd_solids(paths.solids, paths.frame, mesh);
    else
        write_mesh(paths.solids, format, mesh, water.time);
}

template <int D>
void write_volume(const std::string& path, const Water<D>& water, VolumeFormat format)
{
    switch (format) {
        case VolumeFormat::vdb:
            return write_vdb(path, water);
        case VolumeFormat::vti:
            return write_vti(path, water);
        case VolumeFormat::npz:
            return write_npz(path, water);
    }
}

bool writes_solids(const Scene& scene)
{
    return scene.params.dimension() == 3 && scene.params.output.surface != SurfaceFormat::none && !scene.solids.empty();
}

UsdRun usd_run(const Scene& scene)
{
    const Params& params = scene.params;
    return {.title = params.title.empty() ? scene.name : params.title,
            .rate = params.time.rate,
            .spray = params.output.particles,
            .solids = writes_solids(scene)};
}

}  // namespace

bool FramePaths::exist() const
{
    for (const std::string* path : {&surface, &solids, &volume, &particles, &render})
        if (!path->empty() && !fs::exists(*path)) return false;
    return true;
}

FramePaths frame_paths(const std::string& dir, const Scene& scene, int frame)
{
    const OutputParams& output = scene.params.output;
    const char* const mesh = ending(output.surface);
    FramePaths paths;
    paths.frame = frame;
    paths.dir = dir;
    if (output.surface != SurfaceFormat::none) paths.surface = frame_path(dir, "surface", frame, mesh);
    if (writes_solids(scene) && (frame == 0 || scene.solids.moving()))
        paths.solids = frame_path(dir, "solids", frame, mesh);
    if (output.volume) paths.volume = frame_path(dir, "volume", frame, ending(output.volume_format));
    if (output.particles && output.surface != SurfaceFormat::usd)
        paths.particles = frame_path(dir, "particles", frame, output.surface == SurfaceFormat::vtp ? mesh : "ply");
    if (output.preview) paths.render = frame_path(dir, "render", frame, "png");
    return paths;
}

void prepare_frames(const std::string& dir, const Scene& scene)
{
    const FramePaths paths = frame_paths(dir, scene, 0);
    for (const std::string* path : {&paths.surface, &paths.solids, &paths.volume, &paths.particles, &paths.render})
        if (!path->empty()) fs::create_directories(fs::path(*path).parent_path());
    if (scene.params.output.surface == SurfaceFormat::usd) write_usd_manifests(dir, usd_run(scene));
}

template <int D>
void write_frame(const FramePaths& paths, const Water<D>& water, const Scene& scene)
{
    const OutputParams& output = scene.params.output;
    if (!paths.surface.empty()) write_surface(paths, water, output);
    if constexpr (D == 3)
        if (!paths.solids.empty()) write_solids(paths, water, scene);
    if (output.surface == SurfaceFormat::usd) write_usd_top(paths.dir, usd_run(scene));
    if (!paths.volume.empty()) write_volume(paths.volume, water, output.volume_format);
    if (!paths.particles.empty()) {
        if (output.surface == SurfaceFormat::vtp)
            write_vtp(paths.particles, drops_of(water), water.time);
        else
            write_particles(paths.particles, drops_of(water));
    }
    if (!paths.render.empty()) write_png(paths.render, preview(water, scene, output.preview_width));
}
template void write_frame<2>(const FramePaths&, const Water<2>&, const Scene&);
template void write_frame<3>(const FramePaths&, const Water<3>&, const Scene&);

}  // namespace tarn
