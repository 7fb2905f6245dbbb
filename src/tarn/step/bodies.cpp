#include "tarn/step/bodies.h"

#include <algorithm>
#include <utility>

#include "tarn/field/closed_part.h"
#include "tarn/scene/contacts.h"
#include "tarn/scene/frame.h"
#include "tarn/step/boundary.h"

namespace tarn {

namespace {

// A body that lies on a side of the domain leaves a film of water under it, which carries the pressure there: without it nothing
// would lift the body again. In cells, and twice the least that must be open of a face to pass water.
constexpr double film = 0.2;

// A body as kernels see it.
template <int D>
struct BodyView {
    Vec3 position, velocity, spin;
    SolidEntries entries;

    // The flow through a face for each unit of a freedom.
    TARN_HD double freedom(int k, Vec<D> x, int axis) const
    {
        if (k < D) return k == axis ? 1.0 : 0.0;
        return cross(Vec3::unit(D == 2 ? 2 : k - D), lift<D>(x) - position)[axis];
    }
    TARN_HD double velocity_at(Vec<D> x, int axis) const
    {
        return velocity[axis] + cross(spin, lift<D>(x) - position)[axis];
    }
};

// Where what is closed of a face has its middle.
template <int D>
TARN_HD inline Vec<D> closed_middle(const View<D, const float>& nodes, const Grid<D>& grid, Cell<D> face, int axis)
{
    return grid.face(face, axis) + grid.h * middle_of_closed_part(nodes, face, axis).template as<double>();
}

template <int D>
std::vector<BodyView<D>> views_of(const std::vector<RigidBody>& bodies)
{
    std::vector<BodyView<D>> views;
    for (const RigidBody& b : bodies) views.push_back({b.position, b.velocity, b.spin, {b.first, b.last}});
    return views;
}

// What pushes a body in a wet cell: the pressure's change within the cell, over rho |g| h^D.
struct BodyPush {
    int body;
    Vec3 force, torque;
};

// Finds the bodies around a wet cell: by its faces, or, where none is closed, by what reaches into it, if that counts. Most cells have none.
template <int D>
struct BodiesAround {
    static constexpr int most = 3;
    WetCells<D> wet;
    ShapesView shapes;
    Grid<D> grid;
    FaceView<D, const uint8_t> closed_by;
    const int* body_of;  // an entry's, or -1
    bool reaching;       // whether what closes no face counts

    // Most cells are told by one of their nodes.
    TARN_HD bool may_be_near(Cell<D> c) const
    {
        return std::fabs(wet.boundary.solid_distance(c)) <= 4 * static_cast<float>(grid.h);
    }
    TARN_HD int operator()(Cell<D> c, int* found) const
    {
        const View<D, const float>& nodes = wet.boundary.solid_distance;
        const float h = static_cast<float>(grid.h);
        if (!may_be_near(c) || std::fabs(nodes_at_cell<D>(nodes, c)) > 2 * h || !wet(c)) return 0;
        int count = 0;
        const auto add = [&](int body) {
            for (int n = 0; n < count; ++n)
                if (found[n] == body) return;
            if (count < most) found[count++] = body;
        };
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side)
                if (const int body = closed_by[a](moved<D>(c, a, side))) add(body - 1);
        if (reaching && count == 0 && nodes_at_cell<D>(nodes, c) < h) {
            int owner = 0;
            (void)shapes.distance(lift<D>(grid.centre(c)), &owner);
            if (body_of[owner] >= 0) add(body_of[owner]);
        }
        return count;
    }
};

// Whether a body is what closes a face.
template <int D>
struct OwnedBy {
    FaceView<D, const uint8_t> closed_by;
    int number;

    TARN_HD bool operator()(Cell<D> face, int axis) const { return closed_by[axis](face) == number + 1; }
};

// J of a body in a wet cell.
template <int D>
struct TermOfBody {
    static constexpr bool reaching = false;

    TARN_HD RigidTerm<D> operator()(const BodiesAround<D>& around, const BodyView<D>& body, int number, Cell<D> c) const
    {
        const OwnedBy<D> owns{around.closed_by, number};
        RigidTerm<D> term{};
        term.body = number;
        term.cell = around.closed_by[0].index(c);
        double j[rigid_freedoms<D>] = {};
        for (int a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                const Cell<D> face = moved<D>(c, a, side);
                if (!owns(face, a)) continue;
                const double part = static_cast<double>(around.wet.closed_by_solid(face, a));
                const Vec<D> middle = closed_middle(around.wet.boundary.solid_distance, around.grid, face, a);
                for (int k = 0; k < rigid_freedoms<D>; ++k)
                    j[k] += (side ? part : -part) * body.freedom(k, middle, a);
            }
        for (int k = 0; k < rigid_freedoms<D>; ++k) term.j[k] = static_cast<float>(j[k]);
        return term;
    }
};

// The push of a body in a wet cell, with the field of gravity over its strength.
template <int D>
struct PushOfBody {
    static constexpr bool reaching = true;
    FrameForces down;

    TARN_HD BodyPush operator()(const BodiesAround<D>& around, const BodyView<D>& body, int number, Cell<D> c) const
    {
        const OwnedBy<D> owns{around.closed_by, number};
        const SolidPatch<D> patch = patch_in_cell(around.wet, around.shapes, body.entries, around.grid, c, owns);
        const Vec<D> slope = around.wet.relative_density(c) * take<D>(down.at(lift<D>(around.grid.centre(c))));
        const Vec3 arm = lift<D>(around.grid.centre(c) + around.grid.h * patch.middle) - body.position;
        return {number, lift<D>(patch.force(0, slope)), cross(arm, lift<D>(patch.at_middle(0, slope)))};
    }
};

// What `make` makes of every body in every cell around it, cell by cell.
template <class Found, int D, class Make>
std::vector<Found> find_in_cells(const Water<D>& w, const Scene& scene, const KernelShapes& kept, const Make& make)
{
    std::vector<int> body_of_entry;
    for (size_t s = 0; s < scene.solids.size(); ++s) body_of_entry.push_back(scene.solids.body_of(s));
    const DeviceCopy entries_mirror, bodies_mirror, tiles_mirror;
    const BodiesAround<D> around{wet_cells(w, scene.params), kept.view(), w.grid,
                                 w.solids.body.view(), entries_mirror.of(body_of_entry.data(), body_of_entry.size()),
                                 Make::reaching};
    const std::vector<uint8_t> near = parallel_any("bodies", w.map, tile_active, [=] TARN_KERNEL(Cell<D> c) {
        return static_cast<uint8_t>(around.may_be_near(c) ? 1 : 0);
    });
    std::vector<Cell<D>> tiles;
    for (size_t i = 0; i < near.size(); ++i)
        if (near[i]) tiles.push_back(tile_size * w.map.tile(i));
    constexpr int cells_in_tile = D == 2 ? tile_size * tile_size : tile_size * tile_size * tile_size;
    const int n = static_cast<int>(tiles.size()) * cells_in_tile;
    if (n == 0) return {};
    const Cell<D>* const tile = tiles_mirror.of(tiles.data(), tiles.size());
    const Cell<D> cells = w.grid.cells;
    const auto cell_of = [=] TARN_KERNEL(int i) {
        Cell<D> c = tile[i / cells_in_tile];
        int rest = i % cells_in_tile;
        for (int a = 0; a < D; ++a, rest /= tile_size) c[a] += rest % tile_size;
        return c;
    };
    Memory<int> starts(static_cast<size_t>(n));
    int* const start = starts.data();
    parallel_range("bodies", n, [=] TARN_KERNEL(int i) {
        int found[BodiesAround<D>::most];
        const Cell<D> c = cell_of(i);
        start[i] = Box<D>{{}, cells}.contains(c) ? around(c, found) : 0;
    });
    const int count = parallel_starts("bodies", start, n);
    Memory<Found> list(static_cast<size_t>(std::max(count, 1)));
    Found* const to = list.data();
    const std::vector<BodyView<D>> views = views_of<D>(w.bodies);
    const BodyView<D>* const bodies = bodies_mirror.of(views.data(), views.size());
    parallel_range("bodies", n, [=] TARN_KERNEL(int i) {
        if (start[i] == (i + 1 < n ? start[i + 1] : count)) return;
        int found[BodiesAround<D>::most];
        const Cell<D> c = cell_of(i);
        const int all = around(c, found);
        for (int k = 0; k < all; ++k) to[start[i] + k] = make(around, bodies[found[k]], found[k], c);
    });
    std::vector<Found> found(static_cast<size_t>(count));
    if (count > 0) backend::copy(found.data(), to, found.size() * sizeof(Found));
    return found;
}

// A body's acceleration by gravity and the frame as it moves now.
template <int D>
Vec3 weight_of(const RigidBody& b, const FrameForces& frame)
{
    return lift<D>(take<D>(frame.at(b.position) + frame.coriolis(b.velocity)));
}

// The same over a step. The Coriolis term is that of the mean of the velocities before and after, as
// far as the forces of the step before tell: (v' - v) / dt = A - W x (v + v'). The first step knows none, and expects no change.
Vec3 weight_of(const RigidBody& b, const FrameForces& frame, double dt, bool first)
{
    const Vec3 weight = frame.at(b.position);
    if (!frame.moves) return weight;
    if (first) return weight + frame.coriolis(b.velocity);
    // (1 + a x) v' = (1 - a x) v + dt A, with a = dt W; its inverse is (y + a (a . y) - a x y) / (1 + a²).
    const Vec3 a = dt * frame.spin, y = b.velocity - cross(a, b.velocity) + dt * (weight + (1 / b.mass) * (b.force + b.push));
    const Vec3 after = (1 / (1 + dot(a, a))) * (y + dot(a, y) * a - cross(a, y));
    return weight + frame.coriolis(0.5 * (b.velocity + after));
}

// S = rho h^D M^-1 of every body.
template <int D>
std::vector<typename RigidRows<D>::Response> responses(const Water<D>& w, const Params& p)
{
    const double scale = p.fluid.density.constant() * cell_volume(w.grid);
    std::vector<typename RigidRows<D>::Response> all;
    for (const RigidBody& b : w.bodies) {
        typename RigidRows<D>::Response s{};
        for (size_t a = 0; a < D; ++a) s[a][a] = scale / b.mass;
        const Matrix3 inverse = b.inertia_now().inverse();
        for (size_t k = D; k < rigid_freedoms<D>; ++k)
            for (size_t l = D; l < rigid_freedoms<D>; ++l)
                s[k][l] = scale * (D == 2 ? 1 / b.inertia.rows[2][2] : inverse.rows[k - D][static_cast<int>(l - D)]);
        all.push_back(s);
    }
    return all;
}

}  // namespace

template <int D>
void tell_poses(const Water<D>& w, const Scene& scene, double t)
{
    if (w.bodies.empty()) return;
    std::vector<RigidPose> poses;
    for (const RigidBody& b : w.bodies) poses.push_back({b.position, b.rotation});
    scene.solids.tracks().tell(t, std::move(poses));
}

template <int D>
void set_body_velocities(Water<D>& w)
{
    if (w.bodies.empty()) return;
    const std::vector<BodyView<D>> views = views_of<D>(w.bodies);
    const DeviceCopy device_copy;
    const BodyView<D>* const bodies = device_copy.of(views.data(), views.size());
    const Grid<D> grid = w.grid;
    for (int a = 0; a < D; ++a) {
        const auto body = std::as_const(w.solids.body)[a].view();
        const auto velocity = w.solids.velocity[a].view();
        const auto nodes = std::as_const(w.solids.distance).view();
        parallel_for_faces("bodies", all_tiles(grid), a, [=] TARN_KERNEL(Cell<D> c) {
            const int n = body(c);
            if (n > 0) velocity(c) = static_cast<float>(bodies[n - 1].velocity_at(closed_middle(nodes, grid, c, a), a));
        });
    }
}

template <int D>
std::vector<RigidBody> bodies_now(const Water<D>& w, const Params& p)
{
    std::vector<RigidBody> bodies = w.bodies;
    if (w.air) return bodies;
    const FrameForces frame = frame_forces(p, w.time, 0);
    for (RigidBody& b : bodies)
        push(b, b.mass * weight_of<D>(b, frame) + b.force + b.push, b.torque + b.twist, -w.ahead, D);
    return bodies;
}

template <int D>
void move_bodies(Water<D>& w, const Scene& scene, double dt)
{
    // Their velocity is that of the middle of the step but for what the length of the steps has changed.
    const Params& p = scene.params;
    const double late = w.air || !p.method.leapfrog ? 0 : 0.5 * dt - w.ahead;
    const FrameForces frame = frame_forces(p, w.time, 0);
    FrameTurn turn;
    if (p.motion)
        turn = {frame_spin(p, w.time), frame_spin(p, w.time + dt),
                frame_pose(p, w.time + dt).turn.inverse() * frame_pose(p, w.time).turn};
    for (RigidBody& b : w.bodies) {
        b.position += dt * late * (weight_of<D>(b, frame) + (1 / b.mass) * (b.force + b.push));
        move(b, dt, turn);
    }
    tell_poses(w, scene, w.time + dt);
}

template <int D>
void predict_bodies(Water<D>& w, const Scene& scene, double t, double start, double dt)
{
    if (w.bodies.empty()) return;
    const Params& p = scene.params;
    const FrameForces frame = frame_forces(p, start, dt);
    const double strength = frame.moves ? 1 : length(take<D>(frame.gravity));
    std::vector<Vec3> weights;
    for (RigidBody& b : w.bodies) {
        weights.push_back(b.mass * lift<D>(take<D>(weight_of(b, frame, dt, w.step == 0))));
        b.force = b.torque = {};
    }
    if (strength > 0) {
        const double scale = p.fluid.density.constant() * strength * cell_volume(w.grid);
        FrameForces down = frame;
        down.gravity = (1 / strength) * lift<D>(take<D>(frame.gravity));
        const KernelShapes shapes = scene.solids.for_kernels(t, {lift<D>(w.grid.size()), w.grid.h});
        for (const BodyPush& push : find_in_cells<BodyPush>(w, scene, shapes, PushOfBody<D>{down})) {
            RigidBody& b = w.bodies[static_cast<size_t>(push.body)];
            b.force += scale * push.force;
            b.torque += scale * push.torque;
        }
    }
    for (size_t n = 0; n < w.bodies.size(); ++n) {
        RigidBody& b = w.bodies[n];
        push(b, weights[n] + b.force + b.push, b.torque + b.twist, dt, D);
    }
    set_body_velocities(w);
}

template <int D>
void couple_bodies(ProjectionForces<D>& forces, Water<D>& w, const Scene& scene, double dt)
{
    if (w.bodies.empty()) return;
    forces.bodies = [&w, &scene]() -> const RigidRows<D>* {
        // The faces tell all.
        w.rigid.set(find_in_cells<RigidTerm<D>>(w, scene, KernelShapes({}), TermOfBody<D>{}), responses(w, scene.params));
        return w.rigid.any() ? &w.rigid : nullptr;
    };
    forces.move_bodies = [&w, &scene, dt](const Field<D>& x) {
        // p dt h^(D-1) = rho h^D x.
        const double scale = scene.params.fluid.density.constant() * cell_volume(w.grid) / dt;
        const auto sums = w.rigid.sums(x);
        for (size_t n = 0; n < sums.size(); ++n) {
            Vec3 force, torque;
            for (int a = 0; a < D; ++a) force[a] = scale * sums[n][static_cast<size_t>(a)];
            for (int k = D; k < rigid_freedoms<D>; ++k) torque[D == 2 ? 2 : k - D] = scale * sums[n][static_cast<size_t>(k)];
            RigidBody& b = w.bodies[n];
            push(b, force, torque, dt, D);
            b.force += force;
            b.torque += torque;
        }
        set_body_velocities(w);
    };
}

template <int D>
void touch(Water<D>& w, const Scene& scene, double t, double dt, double move)
{
    if (w.bodies.empty()) return;
    for (RigidBody& b : w.bodies) push(b, -b.push, -b.twist, dt, D);
    std::vector<std::pair<Vec3, Vec3>> before;
    for (const RigidBody& b : w.bodies) before.emplace_back(b.velocity, b.spin);
    // Joints act after contacts.
    resolve_contacts(w.bodies, scene, t, move, film * w.grid.h);
    if (!scene.joints.empty()) hold(w.bodies, scene.joints, move, D);
    for (size_t n = 0; n < w.bodies.size(); ++n) {
        RigidBody& b = w.bodies[n];
        b.push = (b.mass / dt) * (b.velocity - before[n].first);
        b.twist = (1 / dt) * (b.inertia_now() * (b.spin - before[n].second));
    }
    set_body_velocities(w);
}

#define TARN_INSTANTIATE(D)                                                                                          \
    template void tell_poses(const Water<D>&, const Scene&, double);                                                 \
    template void set_body_velocities(Water<D>&);                                                                    \
    template std::vector<RigidBody> bodies_now(const Water<D>&, const Params&);                                      \
    template void move_bodies(Water<D>&, const Scene&, double);                                                      \
    template void predict_bodies(Water<D>&, const Scene&, double, double, double);                                   \
    template void couple_bodies(ProjectionForces<D>&, Water<D>&, const Scene&, double);                              \
    template void touch(Water<D>&, const Scene&, double, double, double);
TARN_INSTANTIATE(2)
TARN_INSTANTIATE(3)
#undef TARN_INSTANTIATE

}  // namespace tarn
