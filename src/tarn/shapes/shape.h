#pragma once
// The shapes that a scene names, as signed distances. shapes/distance.h evaluates them at a point.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tarn/backend/memory.h"
#include "tarn/base/quaternion.h"
#include "tarn/shapes/distance.h"

namespace tarn {

// Owns what a DistanceView looks at.
struct DistanceGrid {
    Vec3 origin;
    double spacing = 1;
    Cell<3> nodes;
    std::vector<float> values;  // x fastest
    DeviceCopy device_copy = {};

    DistanceView view() const { return {origin, spacing, nodes, values.data()}; }
};

// A list of shapes as kernels see it.
struct ShapesView {
    const Shape* shapes = nullptr;
    int count = 0;
    ShapeLookup lookup = {};

    TARN_HD double distance(Vec3 x, int* owner = nullptr) const
    {
        const int box = lookup.start ? lookup.box_of(x) : -1;
        if (box < 0) return tarn::distance(shapes, count, x, owner);
        const int first = lookup.start[box];
        return tarn::distance(shapes, lookup.start[box + 1] - first, x, owner, lookup.which + first);
    }
};

// The points that a list of many shapes is asked about: those from the origin to `size`, of cells of side h.
struct AskedAt {
    Vec3 size;
    double h = 0;
};

// The lists of a lookup.
struct ShapeLists {
    ShapeLookup grid;  // without lists
    std::vector<int> start, which;
};

// Empty where there are too few shapes, or points, to be worth it. `shapes` are those that the program sees.
ShapeLists find_lists(const std::vector<Shape>& shapes, const AskedAt& at);

// Keeps a list alive for kernels.
class KernelShapes {
public:
    explicit KernelShapes(std::vector<Shape> shapes, ShapeLists lists = {}) : shapes_(std::move(shapes)), lists_(std::move(lists)) {}
    const std::vector<Shape>& shapes() const { return shapes_; }
    ShapesView view() const
    {
        ShapesView view{device_copy_.of(shapes_.data(), shapes_.size()), static_cast<int>(shapes_.size())};
        if (lists_.start.empty()) return view;
        view.lookup = lists_.grid;
        view.lookup.start = start_mirror_.of(lists_.start.data(), lists_.start.size());
        view.lookup.which = which_mirror_.of(lists_.which.data(), lists_.which.size());
        return view;
    }

private:
    std::vector<Shape> shapes_;
    ShapeLists lists_;
    DeviceCopy device_copy_, start_mirror_, which_mirror_;
};

// Whether any of the shapes may have a wall so thin that two cells of side h beside each other lie on its two sides.
bool may_be_thin(const std::vector<Shape>& shapes, double h, int dimension);

// Turns by the angles, in degrees, about x, then y, then z; then translates.
Pose make_pose(Vec3 translate, Vec3 rotate);

// A shape at time t, from parameters that have every key they need. Meshes and terrain get no samples.
Shape make_shape(const ShapeParams& params, int dimension, double t = 0);

// Whether any of the shape lies in the box from the origin to `size`, as far as points `resolution` apart can tell.
bool reaches(const Shape& shape, Vec3 size, int dimension, double resolution);

// What gives a mesh or a terrain its samples.
using Sampler = std::function<std::shared_ptr<const DistanceGrid>(const ShapeParams&)>;

// Reads meshes and images, whose paths are relative to `folder`. `resolution`: spacing of the samples. Throws
// InputError naming `file` and the shape's line.
Sampler sample_files(int dimension, double resolution, const std::string& folder, const std::string& file);

// Where a rigid body is: its centre of mass, and how it has turned since the start.
struct RigidPose {
    Vec3 position;
    Quaternion rotation;
};

// The poses of rigid bodies by time, as a simulation or the file that it left tells them; those between are interpolated.
class RigidTracks {
public:
    // Poses of all bodies at time t; what was told of later times is forgotten, and all but the newest of earlier ones.
    void tell(double t, std::vector<RigidPose> poses);
    // The poses of a whole run, in order of time: from then on nothing is told any more.
    void record(double t, std::vector<RigidPose> poses);
    RigidPose at(size_t body, double t) const;

private:
    struct Told {
        double t;
        std::vector<RigidPose> poses;
    };
    mutable std::mutex mutex_;
    std::vector<Told> told_;
    bool recorded_ = false;
};

// An ordered list of shapes: each is united with, or subtracted from, what stands before it.
// `moving` tells whether any keyframes move it; at(t) gives the shapes at a time.
class Geometry {
public:
    Geometry() = default;
    // Checks that each shape has what it needs, and samples meshes and terrain, in order; a box or terrain of two
    // numbers spans all z. Throws InputError naming `file` and the shape's line.
    static Geometry build(const std::vector<const ShapeParams*>& shapes, int dimension, const Sampler& sample,
                          const std::string& file);

    // Makes entries, both ends included, one rigid body, whose poses are told from now on. Bodies count in this order.
    void make_body(size_t first, size_t last, Vec3 centre_of_mass);
    // Lets an entry go along a path, turned about y, in 2D about z, so that its x axis points where the path leads if
    // `heading` is true.
    void follow(size_t entry, const Keyed<Vec3>& path, bool heading);
    bool any_body() const { return !centres_.empty(); }
    // The body that an entry belongs to, or -1.
    int body_of(size_t entry) const { return entries_[entry].body; }
    // Where bodies are; copies of this geometry share it.
    RigidTracks& tracks() const { return *tracks_; }

    bool empty() const { return entries_.empty(); }
    bool moving() const;
    size_t size() const { return entries_.size(); }
    // The samples of its meshes and terrain, in order.
    const std::vector<std::shared_ptr<const DistanceGrid>>& grids() const { return grids_; }
    // The shapes look at samples that this Geometry, or a copy of it, must keep alive.
    std::vector<Shape> at(double t) const;
    // The same for kernels; told where they will ask, a distance there costs about the same however many shapes there are.
    KernelShapes for_kernels(double t, const AskedAt& at = {}) const;
    // The rigid displacement of entry i between two times, as a pose: x(t1) = D x(t0).
    Pose displacement(size_t i, double t0, double t1) const;

private:
    struct Entry {
        Shape shape;
        Keyed<Vec3> translate, rotate;
        int body = -1;
        bool heading = false;  // whether it turns to where it goes
    };
    Pose pose_of(const Entry& entry, double t) const;

    int dimension_ = 3;
    std::vector<Entry> entries_;
    std::vector<Vec3> centres_;  // of bodies, at the start
    std::shared_ptr<RigidTracks> tracks_;
    std::vector<std::shared_ptr<const DistanceGrid>> grids_;
};

// The whole list's signed distance at x; `owner` (where given) receives the entry that decided it.
inline double distance(const std::vector<Shape>& shapes, Vec3 x, int* owner = nullptr)
{
    return distance(shapes.data(), static_cast<int>(shapes.size()), x, owner);
}

}  // namespace tarn
