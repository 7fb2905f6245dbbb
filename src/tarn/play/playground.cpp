#include "tarn/play/playground.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tarn/backend/parallel.h"
#include "tarn/base/error.h"
#include "tarn/field/sample.h"
#include "tarn/phases/droplets_read.h"
#include "tarn/play/balls.h"
#include "tarn/play/settings.h"
#include "tarn/play/walls.h"
#include "tarn/run/complaint.h"
#include "tarn/run/frames.h"
#include "tarn/run/retry.h"
#include "tarn/scene/contacts.h"
#include "tarn/scene/validate.h"
#include "tarn/step/bodies.h"
#include "tarn/step/surface.h"
#include "tarn/step/two_phase.h"
#include "tarn/surface/measure.h"

namespace tarn {

namespace {

constexpr size_t max_undo = 24;
// No wall is thinner than two cells: thinner ones would be gaps and sheets, which cost more than they show.
constexpr double least_wall = 1.05;
// The oldest ball makes room for the newest.
constexpr size_t most_balls = 16;
// In cells: what is smaller the grid hardly sees.
constexpr double least_ball = 2.5;

Params for_play(Params p)
{
    if (p.dimension() != 2)
        throw InputError("domain.size: the playground is two-dimensional; give two numbers");
    if (p.flow) throw InputError("flow: the playground moves water by itself; leave [flow] away");
    if (p.wind) throw InputError("wind: the playground has air of its own; leave [wind] away");
    if (p.method.phases != Phases::water_air) {
        p.method.phases = Phases::water_air;
        p.method.advection = p.surface.advection = Advection::cip;
    }
    p.method.surface = SurfaceKind::level_set;
    put_bodies_last(p.solid);
    if (const auto wrong = problems(p); !wrong.empty()) throw InputError(wrong[0].key + ": " + wrong[0].text);
    return p;
}

// Calls f with the scene as the fluids are at time t, where they vary.
template <class F>
auto with_fluids(const Scene& scene, double t, const F& f)
{
    return fluids_vary(scene.params) ? f(at_time(scene, t)) : f(scene);
}

Scene scene_of(const Params& p) { return build_scene(p, "playground", "playground", "."); }

double distance_to_way(Vec<2> x, const Stroke& s)
{
    const Vec<2> along = s.to - s.from, from = x - s.from;
    const double square = dot(along, along), share = square > 0 ? dot(from, along) / square : 0;
    return length(from - std::clamp(share, 0.0, 1.0) * along) - s.radius;
}

template <class T>
Keyed<T> shifted(Keyed<T> keyed, double by)
{
    if (keyed.varies())
        for (auto& key : keyed.keys) key.t -= by;
    for (Formula& formula : keyed.formulas) formula = formula.shifted(by);
    return keyed;
}

// The water of each column as boxes between the heights where phi changes its sign, with the mean velocity in them.
void add_columns(std::vector<WaterParams>& boxes, const Water<2>& w)
{
    const auto phi = w.phi.view();
    const double h = w.grid.h;
    const int rows = w.grid.cells[1];
    for (int i = 0; i < w.grid.cells[0]; ++i) {
        double bottom = -h;
        Vec<2> sum;
        int wet = 0;
        const auto close = [&](double top) {
            WaterParams box;
            box.shape = ShapeKind::box;
            box.min = Vec3{i * h, bottom, 0};
            box.max = Vec3{(i + 1) * h, top, 0};
            for (int a = 0; a < 2; ++a) box.velocity[a] = std::round(1e4 * sum[a] / wet) / 1e4;
            if (top > bottom) boxes.push_back(box);
            wet = 0, sum = Vec<2>{};
        };
        for (int j = 0; j < rows; ++j) {
            const float here = phi(Cell<2>{i, j});
            const float below = j > 0 ? phi(Cell<2>{i, j - 1}) : here;
            const double crossing = (j + 0.5 - here / (here - below)) * h;
            if (here < 0) {
                if (wet == 0) bottom = j > 0 ? crossing : -h;
                sum += velocity_at_cell(w.velocity.view(), Cell<2>{i, j}).as<double>();
                ++wet;
            } else if (wet > 0) {
                close(crossing);
            }
        }
        if (wet > 0) close((rows + 1) * h);
    }
}

// Neighbours of the same height and velocity are one box.
std::vector<WaterParams> joined(const std::vector<WaterParams>& boxes)
{
    std::vector<WaterParams> all;
    for (const WaterParams& box : boxes) {
        const auto same = [&](const WaterParams& other) {
            return std::fabs((*other.max)[0] - (*box.min)[0]) < 1e-9 && other.velocity == box.velocity &&
                   std::fabs((*other.min)[1] - (*box.min)[1]) < 1e-6 && std::fabs((*other.max)[1] - (*box.max)[1]) < 1e-6;
        };
        const auto found = std::find_if(all.begin(), all.end(), same);
        if (found == all.end())
            all.push_back(box);
        else
            found->max = box.max;
    }
    return all;
}

}  // namespace

Playground::Playground(Params params)
    : start_(for_play(std::move(params))),
      scene_(scene_of(start_)),
      water_(initial_water<2>(scene_)),
      ink_(water_.grid),
      backup_(water_.grid)
{
    if (on_device()) throw InputError("the playground runs on a processor; leave --backend cuda away");
}

Advanced Playground::advance(double seconds, bool single)
{
    Advanced done;
    parts_.clear();
    part_ = -1;
    const double end = water_.time + seconds;
    while (water_.time < end) {
        const double remaining = end - water_.time, limit = choose_dt(water_, scene_);
        const double dt = single ? std::min(seconds, limit) : equal_step(remaining, limit);
        if (!(dt > 0)) return failed(step_too_short(limit, water_.fastest));
        const Tried tried = step_with_retries(water_, backup_, scene_, dt, [&](double tried_dt) {
            parts_.clear();
            if (!by_parts_) return step(water_, scene_, tried_dt);
            keep_part();
            return with_fluids(scene_, water_.time + tried_dt, [&](const Scene& scene) {
                return two_phase::step(water_, scene, tried_dt, [this](two_phase::StepPart) { keep_part(); });
            });
        });
        if (!tried.wrong.empty()) return failed(tried.wrong);
        ink_.advect(water_.velocity, tried.dt);
        done.dt = tried.dt;
        done.iterations = tried.report.pressure.iterations;
        ++done.steps;
        if (single) break;
        if (tried.dt == remaining) water_.time = end;
    }
    return done;
}

Advanced Playground::advance_by_parts(double seconds)
{
    by_parts_ = true;
    Advanced done = advance(seconds, true);
    by_parts_ = false;
    return done;
}

void Playground::keep_part()
{
    Part part{Field<2>(water_.grid), Field<2>(water_.grid), FaceField<2>(water_.grid), {}};
    part.phi.copy(water_.phi);
    part.pressure.copy(water_.pressure);
    for (int a = 0; a < 2; ++a) part.velocity[a].copy(water_.velocity[a]);
    part_ = -1;
    part.drops = drops();
    parts_.push_back(std::move(part));
}

const Playground::Part* Playground::part_shown() const
{
    return part_ >= 0 && part_ < parts() ? &parts_[static_cast<size_t>(part_)] : nullptr;
}

// The water that could not go on is of no use; the walls and settings are.
Advanced Playground::failed(const std::string& why)
{
    restart();
    Advanced done;
    done.wrong = why;
    return done;
}

void Playground::restart()
{
    // The walls that are there now, and the bodies that there were.
    const auto walls = [](const std::vector<SolidParams>& all) { return all.begin() + static_cast<long>(first_body(all)); };
    std::vector<SolidParams> solid(scene_.params.solid.cbegin(), walls(scene_.params.solid));
    solid.insert(solid.end(), walls(start_.solid), start_.solid.cend());
    start_.solid = std::move(solid);
    Params params = start_;
    params.domain.cells = scene_.params.domain.cells;
    params.domain.gravity = start_.domain.gravity;
    try {
        scene_ = scene_of(params);
    } catch (const InputError&) {
        // A wall stands now where a body began.
        params.solid.resize(first_body(params.solid));
        scene_ = scene_of(params);
    }
    water_ = initial_water<2>(scene_);
    ink_.clear();
    backup_ = Backup<2>(water_.grid);
    undo_.clear();
    parts_.clear();
    edits_ = 0;
    ++solids_changed_;
}

// Nothing is changed where there is no such scene.
void Playground::rebuild(Params params)
{
    place_bodies(params.solid, water_.bodies);
    scene_ = scene_of(params);
    water_ = carried_over(water_, scene_);
    ink_ = ink_.on(water_.grid);
    backup_ = Backup<2>(water_.grid);
    undo_.clear();
    parts_.clear();
    ++solids_changed_;
}

void Playground::set(const std::string& key, const std::string& value)
{
    // Into what restart() goes back to as well: a setting belongs to the hand, not to the moment.
    Params trial = scene_.params;
    const Setting& setting = set_parameter(trial, key, value);
    if (const auto wrong = problems(trial); !wrong.empty()) throw InputError(wrong[0].key + ": " + wrong[0].text);
    if (setting.restarts)
        rebuild(std::move(trial));
    else
        scene_.params = std::move(trial);
    (void)set_parameter(start_, key, value);
}

void Playground::set_gravity(Vec<2> gravity)
{
    scene_.params.domain.gravity = Vec3{gravity[0], gravity[1], 0};
    start_.domain.gravity = scene_.params.domain.gravity;
}

void Playground::set_cells(int cells)
{
    if (cells == scene_.params.domain.cells) return;
    Params trial = scene_.params;
    trial.domain.cells = cells;
    if (const auto wrong = problems(trial); !wrong.empty()) throw InputError(wrong[0].key + ": " + wrong[0].text);
    rebuild(std::move(trial));
    start_.domain.cells = cells;
}

void Playground::begin_stroke()
{
    undo_.push_back({Backup<2>(water_.grid), Ink(water_.grid), scene_.params.solid, solids_changed_});
    undo_.back().state.take(water_);
    undo_.back().ink.copy(ink_);
    if (undo_.size() > max_undo) undo_.pop_front();
    line_.clear();
    line_from_ = first_body(scene_.params.solid);
}

bool Playground::undo()
{
    if (undo_.empty()) return false;
    part_ = -1;
    Undo& last = undo_.back();
    if (last.solids_changed != solids_changed_) build_solids(last.solid, {});
    last.state.give_back(water_);
    tarn::restore(water_, scene_);
    ink_.copy(last.ink);
    undo_.pop_back();
    line_.clear();
    line_from_ = first_body(scene_.params.solid);
    ++edits_;
    return true;
}

// The scene with other solids. Its bodies are as it says; of those that are known already, in the same order, the newest forces stay.
void Playground::build_solids(std::vector<SolidParams> solid, const std::vector<RigidBody>& bodies)
{
    Params params = scene_.params;
    params.solid = std::move(solid);
    scene_ = scene_of(params);
    water_.bodies = scene_.bodies;
    for (size_t n = 0; n < bodies.size() && n < water_.bodies.size(); ++n) {
        RigidBody& to = water_.bodies[n];
        to.force = bodies[n].force, to.torque = bodies[n].torque;
        to.push = bodies[n].push, to.twist = bodies[n].twist;
    }
    tell_poses(water_, scene_, water_.time);
    with_fluids(scene_, water_.time, [&](const Scene& scene) { change_solids(water_, scene); });
    set_body_velocities(water_);
    ++solids_changed_;
}

void Playground::apply(const Stroke& s)
{
    ++edits_;
    part_ = -1;
    const BrushDistance brush = [&](Vec<2> x) { return distance_to_way(x, s); };
    const Vec<2> middle = 0.5 * (s.from + s.to);
    switch (s.brush) {
        case Brush::pour:
            return with_fluids(scene_, water_.time, [&](const Scene& now) { pour(water_, now, brush, middle, s.velocity); });
        case Brush::remove:
            remove_balls(s);
            [[fallthrough]];
        case Brush::air:
            return with_fluids(scene_, water_.time, [&](const Scene& now) { remove_water(water_, now, brush, middle); });
        case Brush::stir:
            return push(water_, brush, s.radius, s.velocity, 0.7);
        case Brush::wall:
        case Brush::erase_wall:
            return draw_wall(s);
        case Brush::ink:
            return paint(s);
        case Brush::ball:
            return throw_ball(s);
    }
}

void Playground::draw_wall(const Stroke& s)
{
    if (line_.empty()) line_.push_back(s.from);
    line_.push_back(s.to);
    const double radius = std::max(s.radius, least_wall * water_.grid.h);
    const std::vector<SolidParams> shapes =
        wall_along(simplified(line_, 0.3 * water_.grid.h), radius, s.brush == Brush::erase_wall);
    // To cut from nothing is no shape.
    if (s.brush == Brush::erase_wall && line_from_ == 0) return;
    std::vector<SolidParams> all = scene_.params.solid;
    place_bodies(all, water_.bodies);
    const auto at = [&](size_t n) { return all.begin() + static_cast<long>(n); };
    all.erase(at(line_from_), at(first_body(all)));
    all.insert(at(line_from_), shapes.begin(), shapes.end());
    try {
        build_solids(std::move(all), water_.bodies);
    } catch (const InputError&) {
        throw InputError("a body is in the way of this wall");
    }
}

void Playground::throw_ball(const Stroke& s)
{
    const Vec<2> size = water_.grid.size();
    const double radius = std::max(s.radius, least_ball * water_.grid.h);
    Vec<2> center = s.to;
    for (int a = 0; a < 2; ++a) center[a] = std::clamp(center[a], radius, std::max(radius, size[a] - radius));
    std::vector<RigidBody> bodies = water_.bodies;
    std::vector<SolidParams> all = scene_.params.solid;
    place_bodies(all, bodies);
    if (bodies.size() >= most_balls) {
        all.erase(all.begin() + bodies[0].first, all.begin() + bodies[0].last + 1);
        bodies.erase(bodies.begin());
    }
    all.push_back(ball(center, radius, s.density, s.velocity));
    try {
        build_solids(std::move(all), bodies);
    } catch (const InputError&) {
        throw InputError("there is no room for a ball here");
    }
    // The step begins with its move, which may bring it against a wall.
    resolve_contacts(water_.bodies, scene_, water_.time, choose_dt(water_, scene_), 0);
}

void Playground::remove_balls(const Stroke& s)
{
    std::vector<SolidParams> all = scene_.params.solid;
    std::vector<RigidBody> kept = water_.bodies;
    place_bodies(all, kept);
    // From behind, as what stands behind moves up.
    for (size_t n = kept.size(); n-- > 0;) {
        if (distance_to_way(take<2>(kept[n].position), s) > 0) continue;
        all.erase(all.begin() + kept[n].first, all.begin() + kept[n].last + 1);
        kept.erase(kept.begin() + static_cast<long>(n));
    }
    if (kept.size() < water_.bodies.size()) build_solids(std::move(all), kept);
}

void Playground::paint(const Stroke& s)
{
    const Grid<2>& grid = water_.grid;
    for (int j = 0; j < grid.cells[1]; ++j)
        for (int i = 0; i < grid.cells[0]; ++i) {
            const double inside = -distance_to_way(grid.centre(Cell<2>{i, j}), s) / s.radius;
            if (inside > 0) ink_.add(Cell<2>{i, j}, s.color, static_cast<float>(std::min(1.0, 2 * inside)));
        }
}

Params Playground::saved() const
{
    Params p = scene_.params;
    if (water_.time == 0 && edits_ == 0) return p;
    const double now = water_.time;
    place_bodies(p.solid, water_.bodies);
    p.domain.gravity = shifted(p.domain.gravity, now);
    for (auto* x : {&p.fluid.density, &p.fluid.viscosity, &p.fluid.surface_tension, &p.air.density, &p.air.viscosity}) *x = shifted(*x, now);
    for (auto& solid : p.solid) solid.translate = shifted(solid.translate, now), solid.rotate = shifted(solid.rotate, now);
    for (auto& source : p.source) {
        if (source.velocity) source.velocity = shifted(*source.velocity, now);
        if (source.rate) source.rate = shifted(*source.rate, now);
    }
    for (auto& sink : p.sink) {
        if (sink.rate) sink.rate = shifted(*sink.rate, now);
        sink.open = shifted(sink.open, now);
    }
    for (auto& force : p.force) {
        for (auto* v : {&force.acceleration, &force.velocity}) *v = shifted(*v, now);
        for (auto* x : {&force.strength, &force.rate}) *x = shifted(*x, now);
        if (force.around) force.around = shifted(*force.around, now);
    }
    for (auto& pressure : p.surface_pressure) pressure.pressure = shifted(pressure.pressure, now);
    for (auto& path : p.path) path.points = shifted(path.points, now);
    std::vector<WaterParams> boxes;
    add_columns(boxes, water_);
    for (const ShownDrop& drop : drops()) {
        if (static_cast<DropletKind>(drop.kind) != DropletKind::droplet || drop.radius < 0.3 * water_.grid.h) continue;
        WaterParams ball;
        ball.shape = ShapeKind::sphere;
        ball.center = Vec3{drop.x, drop.y, 0};
        ball.radius = drop.radius;
        ball.velocity = Vec3{drop.u, drop.v, 0};
        boxes.push_back(ball);
    }
    p.water = joined(boxes);
    // What is much thinner than a cell is no shape that a scene may have.
    const Grid<2> grid = make_grid<2>(p.domain);
    std::erase_if(p.water, [&](const WaterParams& water) {
        return !reaches(make_shape(water, 2), lift<2>(grid.size()), 2, 0.125 * grid.h);
    });
    return p;
}

std::vector<float> Playground::field(Shown shown) const
{
    const Grid<2>& grid = water_.grid;
    const Part* const part = part_shown();
    const auto phi = (part ? part->phi : water_.phi).view();
    const auto pressure = (part ? part->pressure : water_.pressure).view();
    const auto u = (part ? part->velocity : water_.velocity).view();
    const float per_h = static_cast<float>(1 / grid.h);
    std::vector<float> values;
    values.reserve(static_cast<size_t>(grid.count()));
    const auto vorticity = [&](int i, int j) {
        const auto mean = [&](int a, int x, int y) {
            x = std::clamp(x, 0, grid.cells[0] - 1), y = std::clamp(y, 0, grid.cells[1] - 1);
            return velocity_at_cell(u, Cell<2>{x, y})[a];
        };
        return 0.5f * per_h * (mean(1, i + 1, j) - mean(1, i - 1, j) - mean(0, i, j + 1) + mean(0, i, j - 1));
    };
    // Of what flows: through the open part of a face, and with the solid through the rest.
    const Solids<2>& solid = water_.solids;
    const auto flow = [&](int a, Cell<2> face) {
        if (!solid.any) return u[a](face);
        const float open = solid.open[a](face);
        return open * u[a](face) + (solid.moving ? (1 - open) * solid.velocity[a](face) : 0.0f);
    };
    const auto flag = [&](Cell<2> c) {
        if (water_.solids.any) {
            const float open = fluid_fraction<2>(water_.solids.distance.view(), c, static_cast<float>(grid.h));
            if (open < 1) return open > 0 ? CellFlag::cut : CellFlag::solid;
        }
        return phi(c) < 0 ? CellFlag::water : CellFlag::air;
    };
    const auto value = [&](Cell<2> c) -> float {
        const auto [i, j] = c.v;
        switch (shown) {
            case Shown::phi:
                return phi(c);
            case Shown::pressure:
                return pressure(c);
            case Shown::speed:
                return length(velocity_at_cell(u, c));
            case Shown::vorticity:
                return vorticity(i, j);
            case Shown::divergence:
                return per_h * (flow(0, {i + 1, j}) - flow(0, c) + flow(1, {i, j + 1}) - flow(1, c));
            case Shown::flags:
                return static_cast<float>(flag(c));
        }
        return 0;
    };
    for (int j = 0; j < grid.cells[1]; ++j)
        for (int i = 0; i < grid.cells[0]; ++i) values.push_back(value(Cell<2>{i, j}));
    return values;
}

std::vector<float> Playground::solids() const
{
    std::vector<float> values;
    if (!water_.solids.any) return values;
    const auto distance = water_.solids.distance.view();
    for (int j = 0; j <= water_.grid.cells[1]; ++j)
        for (int i = 0; i <= water_.grid.cells[0]; ++i) values.push_back(distance(Cell<2>{i, j}));
    return values;
}

std::vector<ShownDrop> Playground::drops() const
{
    if (const Part* const part = part_shown()) return part->drops;
    const double h = water_.grid.h;
    std::vector<ShownDrop> all;
    for (const Droplet<2>& f : read_fragments(water_.droplets)) {
        if (!(f.volume > 0)) continue;
        const Vec<2> x = h * (f.x + Vec<2>::all(0.5));
        all.push_back({static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(h * radius_of<2>(f.volume)),
                       static_cast<float>(f.kind), static_cast<float>(f.u[0]), static_cast<float>(f.u[1])});
    }
    return all;
}

std::vector<ShownBall> Playground::balls() const
{
    std::vector<ShownBall> all;
    for (const RigidBody& b : water_.bodies) {
        const SolidParams& solid = scene_.params.solid[static_cast<size_t>(b.first)];
        if (b.first != b.last || solid.shape != ShapeKind::sphere) continue;
        const double turn = solid.rotate.at(0)[2] * std::numbers::pi / 180 + turned(b);
        const double radius = solid.radius.value_or(0) * solid.scale, density = b.mass / (std::numbers::pi * radius * radius);
        all.push_back({static_cast<float>(b.position[0]), static_cast<float>(b.position[1]), static_cast<float>(radius),
                       static_cast<float>(turn), static_cast<float>(density)});
    }
    return all;
}

}  // namespace tarn
