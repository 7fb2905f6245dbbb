#include "tarn/run/write_frame.h"

#include <filesystem>

#include "tarn/output/finer.h"
#include "tarn/output/frame_state.h"
#include "tarn/output/numpy.h"
#include "tarn/output/revolve.h"
#include "tarn/output/usd.h"
#include "tarn/output/volume.h"
#include "tarn/output/vtk.h"
#include "tarn/render/grid_picture.h"
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

UsdRun usd_run(const std::string& dir, const Params& params)
{
    return {.title = params.title.empty() ? fs::path(dir).filename().string() : params.title,
            .rate = params.time.rate,
            .spray = params.output.particles,
            .solids = fs::is_directory(dir + "/solids")};
}

}  // namespace

FramePaths FramePaths::missing() const
{
    FramePaths paths = *this;
    for (std::string* path : paths.all())
        if (fs::exists(*path)) path->clear();
    return paths;
}

bool FramePaths::any() const
{
    for (const std::string* path : {&surface, &solids, &volume, &heights, &particles, &vortices, &preview, &grid, &state})
        if (!path->empty()) return true;
    return false;
}

FramePaths frame_paths(const std::string& dir, const OutputParams& output, int frame, bool solids)
{
    const char* const mesh = ending(output.surface);
    FramePaths paths;
    paths.frame = frame;
    paths.dir = dir;
    if (output.surface != SurfaceFormat::none) paths.surface = frame_path(dir, "surface", frame, mesh);
    if (solids) paths.solids = frame_path(dir, "solids", frame, mesh);
    if (output.volume) paths.volume = frame_path(dir, "volume", frame, ending(output.volume_format));
    if (output.heights) paths.heights = frame_path(dir, "heights", frame, "npz");
    if (output.particles && output.surface != SurfaceFormat::usd)
        paths.particles = frame_path(dir, "particles", frame, output.surface == SurfaceFormat::vtp ? mesh : "ply");
    if (output.preview) paths.preview = frame_path(dir, "preview", frame, "png");
    if (output.preview_grid) paths.grid = frame_path(dir, "grid", frame, "png");
    if (output.state) paths.state = frame_path(dir, "state", frame, state_ending);
    return paths;
}

FramePaths frame_paths(const std::string& dir, const Scene& scene, int frame)
{
    const bool solids = writes_solids(scene) && (frame == 0 || scene.solids.moving());
    FramePaths paths = frame_paths(dir, scene.params.output, frame, solids);
    // Smoke has neither a surface nor drops.
    if (scene.params.method.phases == Phases::smoke) paths.surface.clear(), paths.particles.clear();
    if (scene.params.output.particles && !scene.vortices.empty()) paths.vortices = frame_path(dir, "vortices", frame, "ply");
    return paths;
}

void prepare_frames(const std::string& dir, const Params& params, bool solids)
{
    FramePaths paths = frame_paths(dir, params.output, 0, solids);
    for (const std::string* path : paths.all())
        if (!path->empty()) fs::create_directories(fs::path(*path).parent_path());
    if (params.output.particles && !params.vortices.empty()) fs::create_directories(dir + "/vortices");
    if (params.output.surface == SurfaceFormat::usd) write_usd_manifests(dir, usd_run(dir, params));
}

void prepare_frames(const std::string& dir, const Scene& scene)
{
    prepare_frames(dir, scene.params, writes_solids(scene));
}

void write_shapes(const FramePaths& paths, const Params& params, const FrameShapes& shapes)
{
    const OutputParams& output = params.output;
    const bool usd = output.surface == SurfaceFormat::usd;
    if (!paths.solids.empty()) {
        if (usd)
            write_usd_solids(paths.solids, paths.frame, shapes.solids);
        else
            write_mesh(paths.solids, output.surface, shapes.solids, shapes.time);
    }
    if (!paths.surface.empty()) {
        if (usd)
            write_usd(paths.surface, paths.frame, shapes.surface, output.particles ? &shapes.spray : nullptr);
        else
            write_mesh(paths.surface, output.surface, shapes.surface, shapes.time);
    }
    if (!paths.particles.empty()) {
        if (output.surface == SurfaceFormat::vtp)
            write_vtp(paths.particles, shapes.spray, shapes.time);
        else
            write_particles(paths.particles, shapes.spray);
    }
    if (usd) write_usd_top(paths.dir, usd_run(paths.dir, params));
}

template <int D>
void write_frame(const FramePaths& paths, const Water<D>& water, const Scene& scene)
{
    const OutputParams& output = scene.params.output;
    FrameShapes shapes;
    shapes.time = water.time;
    std::optional<Water<D>> fine;
    if (!paths.surface.empty() || !paths.preview.empty()) fine = finer(water, scene);
    const Water<D>& shown = fine ? *fine : water;
    if (!paths.surface.empty()) shapes.surface = output.revolve ? revolved(surface_mesh(shown)) : surface_mesh(shown);
    if (!paths.particles.empty() || (!paths.surface.empty() && output.particles))
        shapes.spray = drops_of(water, scene.params.droplets);
    if constexpr (D == 3)
        if (!paths.solids.empty()) shapes.solids = solid_mesh(scene.solids, water.grid, water.time);
    write_shapes(paths, scene.params, shapes);
    if (!paths.volume.empty()) write_volume(paths.volume, water, output.volume_format);
    if (!paths.preview.empty()) write_png(paths.preview, preview(shown, scene, output.preview_width));
    if (!paths.vortices.empty()) write_vortices(paths.vortices, water);
    if (!paths.heights.empty()) write_heights_npz(paths.heights, water);
    if (!paths.grid.empty()) write_png(paths.grid, grid_picture(water, output.preview_width));
    if (!paths.state.empty()) write_state(paths.state, water, keeps_points(scene.params));
}
template void write_frame<2>(const FramePaths&, const Water<2>&, const Scene&);
template void write_frame<3>(const FramePaths&, const Water<3>&, const Scene&);

}  // namespace tarn
