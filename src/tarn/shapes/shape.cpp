#include "tarn/shapes/shape.h"

#include <algorithm>
#include <filesystem>
#include <queue>
#include <utility>

#include "tarn/base/error.h"
#include "tarn/params/tables.h"
#include "tarn/shapes/load.h"

namespace tarn {

Pose make_pose(Vec3 translate, Vec3 rotate)
{
    const double radian = 3.14159265358979323846 / 180;
    double c[3], s[3];
    for (int a = 0; a < 3; ++a) {
        c[a] = std::cos(rotate[a] * radian);
        s[a] = std::sin(rotate[a] * radian);
    }
    // R = Rz Ry Rx, so that a point turns about x first.
    Pose pose;
    pose.rows[0] = {c[2] * c[1], c[2] * s[1] * s[0] - s[2] * c[0], c[2] * s[1] * c[0] + s[2] * s[0]};
    pose.rows[1] = {s[2] * c[1], s[2] * s[1] * s[0] + c[2] * c[0], s[2] * s[1] * c[0] - c[2] * s[0]};
    pose.rows[2] = {-s[1], c[1] * s[0], c[1] * c[0]};
    pose.translation = translate;
    return pose;
}

namespace {

Vec3 normalised(Vec3 v)
{
    const double l = length(v);
    return l > 0 ? v * (1 / l) : v;
}

}  // namespace

Shape make_shape(const ShapeParams& p, int dimension, double t)
{
    const double inf = std::numeric_limits<double>::infinity();
    Shape shape;
    shape.kind = p.shape;
    shape.subtract = p.subtract;
    shape.scale = p.scale;
    shape.pose = make_pose(p.translate.at(t), p.rotate.at(t));
    shape.axis = normalised(p.axis);
    const auto given = [](const auto& key) {
        TARN_CHECK_EQ(key.has_value(), true);
        return *key;
    };
    switch (p.shape) {
        case ShapeKind::box:
            shape.a = given(p.min);
            shape.b = given(p.max);
            if (dimension == 2) {
                shape.a[2] = -inf;
                shape.b[2] = inf;
            }
            break;
        case ShapeKind::sphere:
            shape.a = given(p.center);
            shape.r = given(p.radius);
            break;
        case ShapeKind::ellipsoid:
            shape.a = given(p.center);
            shape.b = given(p.radii);
            // Longer than the others, so that the closest point to one in the plane lies in the plane.
            if (dimension == 2) shape.b[2] = 10 * std::max(shape.b[0], shape.b[1]);
            break;
        case ShapeKind::cylinder:
        case ShapeKind::cone:
            shape.a = given(p.center);
            shape.r = given(p.radius);
            shape.s = given(p.height);
            break;
        case ShapeKind::torus:
            shape.a = given(p.center);
            shape.r = given(p.major);
            shape.s = given(p.minor);
            break;
        case ShapeKind::plane:
            shape.a = given(p.point);
            shape.b = normalised(given(p.normal));
            break;
        case ShapeKind::solitary_wave:
            shape.wave = {given(p.depth), given(p.height), given(p.crest), p.toward == Toward::left ? -1.0 : 1.0};
            break;
        case ShapeKind::terrain:
        case ShapeKind::mesh:
            break;
    }
    return shape;
}

bool reaches(const Shape& shape, Vec3 size, int dimension, double resolution)
{
    // A box whose centre is farther from the shape than from its own corners holds none of it. The others are
    // divided, nearest first, which finds any part of the shape within a few boxes.
    struct Part {
        Vec3 centre, half;
        double d;
        bool operator<(const Part& other) const { return d > other.d; }
    };
    std::priority_queue<Part> parts;
    const auto push = [&](Vec3 centre, Vec3 half) { parts.push({centre, half, distance(shape, centre)}); };
    if (dimension == 2) size[2] = 0;
    push(0.5 * size, 0.5 * size);

    const int patience = 4096;
    for (int i = 0; i < patience && !parts.empty(); ++i) {
        const Part part = parts.top();
        parts.pop();
        if (part.d < 0) return true;
        const double corner = length(part.half);
        if (part.d > corner || corner < resolution) continue;
        int longest = 0;
        for (int a = 1; a < dimension; ++a)
            if (part.half[a] > part.half[longest]) longest = a;
        Vec3 half = part.half, shift;
        half[longest] *= 0.5;
        shift[longest] = half[longest];
        push(part.centre - shift, half);
        push(part.centre + shift, half);
    }
    return false;
}

namespace {

[[noreturn]] void fail(const std::string& file, const ShapeParams& p, const std::string& key, const std::string& text)
{
    throw InputError(file + ":" + std::to_string(p.line) + ": " + key + ": " + text);
}

}  // namespace

Sampler sample_files(int dimension, double resolution, const std::string& folder, const std::string& file)
{
    return [=](const ShapeParams& p) {
        const auto path = [&](const std::string& name) { return (std::filesystem::path(folder) / name).string(); };
        try {
            if (p.shape == ShapeKind::mesh) return sample_mesh(path(p.file), resolution / p.scale);
            return sample_terrain(path(p.image), *p.min, *p.max, dimension, resolution / p.scale);
        } catch (const InputError& e) {
            fail(file, p, p.shape == ShapeKind::mesh ? "file" : "image", e.what());
        }
    };
}

Geometry Geometry::build(const std::vector<const ShapeParams*>& shapes, int dimension, const Sampler& sample,
                         const std::string& file)
{
    Geometry geometry;
    geometry.dimension_ = dimension;
    for (const ShapeParams* p : shapes) {
        const std::string kind = word_of(shape_words(), static_cast<int>(p->shape));
        for (const ParamRow& row : shape_rows())
            if (row.required && row.belongs_to(p->shape) && !row.value(p))
                fail(file, *p, row.name, "missing; the shape \"" + kind + "\" needs it");

        Entry entry{make_shape(*p, dimension), p->translate, p->rotate};
        if (p->shape == ShapeKind::mesh || p->shape == ShapeKind::terrain) {
            geometry.grids_.push_back(sample(*p));
            entry.shape.sampled = geometry.grids_.back()->view();
        }
        geometry.entries_.push_back(std::move(entry));
    }
    return geometry;
}

void RigidTracks::tell(double t, std::vector<RigidPose> poses)
{
    const std::lock_guard lock(mutex_);
    if (recorded_) return;
    while (!told_.empty() && told_.back().t >= t) told_.pop_back();
    if (told_.size() > 1) told_.erase(told_.begin(), told_.end() - 1);
    told_.push_back({t, std::move(poses)});
}

void RigidTracks::record(double t, std::vector<RigidPose> poses)
{
    const std::lock_guard lock(mutex_);
    if (!std::exchange(recorded_, true)) told_.clear();
    told_.push_back({t, std::move(poses)});
}

RigidPose RigidTracks::at(size_t body, double t) const
{
    const std::lock_guard lock(mutex_);
    TARN_CHECK_EQ(told_.empty(), false);
    const auto next = std::lower_bound(told_.begin(), told_.end(), t, [](const Told& a, double time) { return a.t < time; });
    if (next == told_.end()) return told_.back().poses[body];
    if (next->t == t || next == told_.begin()) return next->poses[body];
    const Told& before = *(next - 1);
    const double part = (t - before.t) / (next->t - before.t);
    const RigidPose &a = before.poses[body], &b = next->poses[body];
    return {a.position + part * (b.position - a.position), between(a.rotation, b.rotation, part)};
}

void Geometry::make_body(size_t first, size_t last, Vec3 centre_of_mass)
{
    if (!tracks_) tracks_ = std::make_shared<RigidTracks>();
    for (size_t i = first; i <= last; ++i) entries_[i].body = static_cast<int>(centres_.size());
    centres_.push_back(centre_of_mass);
}

void Geometry::follow(size_t entry, const Keyed<Vec3>& path, bool heading)
{
    entries_[entry].translate = path;
    entries_[entry].heading = heading;
}

// Of an entry that turns to where its path leads: its own turn, then that. Of a body: the entry's own pose, then the turn
// about the centre of mass and its way.
Pose Geometry::pose_of(const Entry& e, double t) const
{
    Pose own = make_pose(e.translate.at(t), e.rotate.at(t));
    if (e.heading) {
        const Vec3 along = e.translate.rate(t);
        const double degree = 180 / 3.14159265358979323846;
        const Pose turn = make_pose({}, dimension_ == 2 ? Vec3{0, 0, degree * std::atan2(along[1], along[0])}
                                                        : Vec3{0, degree * std::atan2(-along[2], along[0]), 0});
        const Pose before = own;
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                own.rows[a][b] = dot(turn.rows[a], Vec3{before.rows[0][b], before.rows[1][b], before.rows[2][b]});
    }
    if (e.body < 0) return own;
    const RigidPose now = tracks_->at(static_cast<size_t>(e.body), t);
    const Vec3 centre = centres_[static_cast<size_t>(e.body)];
    Pose pose;
    for (int b = 0; b < 3; ++b) {
        const Vec3 turned = now.rotation.rotate({own.rows[0][b], own.rows[1][b], own.rows[2][b]});
        for (int a = 0; a < 3; ++a) pose.rows[a][b] = turned[a];
    }
    pose.translation = now.position + now.rotation.rotate(own.translation - centre);
    return pose;
}

bool Geometry::moving() const
{
    if (any_body()) return true;
    for (const Entry& e : entries_)
        if (e.translate.varies() || e.rotate.varies()) return true;
    return false;
}

namespace {

// The ball around a shape where it is now; a little larger than need be, for rounding.
void find_reach(Shape& s, int dimension)
{
    Vec3 centre = s.a;
    double reach = s.r;
    // In 2D points have z = 0, and boxes span all z.
    const auto around = [&](Vec3 lo, Vec3 hi) {
        if (dimension == 2) lo[2] = hi[2] = 0;
        centre = 0.5 * (lo + hi);
        reach = length(hi - centre);
    };
    switch (s.kind) {
        case ShapeKind::box:
            around(s.a, s.b);
            break;
        case ShapeKind::sphere:
            break;
        case ShapeKind::ellipsoid:
            reach = std::max(s.b[0], s.b[1]);
            if (dimension == 3) reach = std::max(reach, s.b[2]);
            break;
        case ShapeKind::cylinder:
            reach = std::hypot(s.r, 0.5 * s.s);
            break;
        case ShapeKind::cone:
            centre = s.a + (0.5 * s.s) * s.axis;
            reach = std::hypot(s.r, 0.5 * s.s);
            break;
        case ShapeKind::torus:
            reach = s.r + s.s;
            break;
        case ShapeKind::mesh:
            around(s.sampled.origin, s.sampled.origin + s.sampled.spacing * (s.sampled.nodes - Cell<3>{1, 1, 1}).as<double>());
            break;
        case ShapeKind::plane:
        case ShapeKind::terrain:
        case ShapeKind::solitary_wave:
            return;
    }
    s.middle = s.pose.apply(s.scale * centre);
    s.reach = 1.001 * s.scale * reach;
}

}  // namespace

std::vector<Shape> Geometry::at(double t) const
{
    std::vector<Shape> shapes;
    shapes.reserve(entries_.size());
    for (const Entry& e : entries_) {
        shapes.push_back(e.shape);
        if (e.body >= 0 || e.translate.varies() || e.rotate.varies()) shapes.back().pose = pose_of(e, t);
        find_reach(shapes.back(), dimension_);
    }
    return shapes;
}

KernelShapes Geometry::for_kernels(double t, const AskedAt& asked) const
{
    std::vector<Shape> shapes = at(t);
    ShapeLists lists = find_lists(shapes, asked);
    for (Shape& shape : shapes)
        for (const auto& grid : grids_)
            if (shape.sampled.values == grid->values.data())
                shape.sampled.values = grid->device_copy.of(grid->values.data(), grid->values.size());
    return KernelShapes(std::move(shapes), std::move(lists));
}

Pose Geometry::displacement(size_t i, double t0, double t1) const
{
    const Entry& e = entries_[i];
    const Pose from = pose_of(e, t0), to = pose_of(e, t1);
    // D = to o from^-1: its rotation is R1 R0^T, and it takes the old translation to the new one.
    Pose d;
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) d.rows[a][b] = dot(to.rows[a], from.rows[b]);
    d.translation = to.translation - Vec3{dot(d.rows[0], from.translation), dot(d.rows[1], from.translation),
                                          dot(d.rows[2], from.translation)};
    return d;
}

}  // namespace tarn
