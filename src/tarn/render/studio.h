#pragma once
// A frame of a scene set up for its picture: its water and spray, the scene's solids, floor and
// lights. Without any settings it is tiled ground under a clear sky, with the sun beyond the water to one side, so that
// light falls through it toward the camera.

#include <map>
#include <memory>

#include "tarn/output/frame_state.h"
#include "tarn/output/particles.h"
#include "tarn/render/camera.h"
#include "tarn/render/picture.h"
#include "tarn/render/world.h"
#include "tarn/scene/scene.h"
#include "tarn/shapes/mesh_file.h"

namespace tarn {

struct Frame3d {
    Volume now;
    std::optional<Volume> next;  // with a shutter
    std::vector<Drop> drops;
};

// Of the state that a run has kept of a frame.
Frame3d frame_from(const FrameState<3>& state, const DropletParams& params);

class Studio {
public:
    // The scene must outlive it.
    explicit Studio(const Scene& scene);

    // The frame as a world, and the camera that looks at it.
    World set(const Frame3d& frame) const;
    Camera camera(double time, double aspect) const;

private:
    double longest_side() const;
    void set_lights();
    void add_floor(World& world) const;
    void add_tank(World& world) const;
    void add_solids(World& world, const Grid<3>& grid, double time, double shutter) const;

    const Scene& scene_;
    Lights lights_;
    std::shared_ptr<const Picture> floor_picture_;
    std::map<size_t, ClosedMesh> meshes_;  // by entry of [[solid]]
};

PictureParams picture_params(const RenderParams& params);

}  // namespace tarn
