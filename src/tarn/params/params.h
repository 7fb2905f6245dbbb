#pragma once
// Every parameter of a scene, once: the member initialiser is its default; params/tables.h gives its name, unit,
// range and meaning. The scene reader, `tarn params`, the JSON schema and docs/parameters.md are derived from these.

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tarn/base/keyed.h"
#include "tarn/base/vec.h"

namespace tarn {

enum class WallKind { slip, no_slip, open };
enum class GridKind { uniform, octree, tall };
enum class Phases { water, water_air, smoke };
enum class OctreePressure { second_order, losasso_2004 };
enum class OctreeDistance { mean, large, small, centres };
enum class Solver { projection, foster_metaxas };
enum class Preset { none, foster_1996, enright_2002, losasso_2004, song_2005, irving_2006 };
enum class SurfaceKind {
    particle_level_set,
    one_sided_particles,
    foster_fedkiw_2001,
    level_set,
    markers,
    marker_chains,
    height_field
};
enum class Advection { semi_lagrangian, semi_lagrangian_rk3, maccormack, weno5, forward_euler, cip, rational_cip };
enum class Extrapolation { divergence_free, constant };
enum class Redistancing { eikonal, reinitialize, enright_2002, song_2005 };
enum class SeedingKind { thinning, even };
enum class Unreferenced { near_surface, all };
enum class Interface { smeared, sharp };
enum class PressureSolver { multigrid, mic0, relaxation, hypre };
enum class DropsShown { all, run, whitewater, none };
enum class SurfaceFormat { ply, obj, usd, none, vtp };
enum class VolumeFormat { vdb, vti, npz };
enum class ShapeKind { box, sphere, ellipsoid, cylinder, cone, torus, plane, terrain, mesh, solitary_wave };
enum class Toward { right, left };
enum class FlowField { rotation, vortex, deformation };
enum class SolidLook { plaster, plastic, metal, mirror, glass };
enum class LightKind { sky, sun, area, image };
enum class WaterLook { pool, clear, murky, milk };
enum class FloorLook { tiles, plain, checker, image, none };
enum class SurfaceFilter { tricubic, trilinear };
enum class SolidMotion { keyframes, body, carried };
enum class JointKind { hinge, slider };
enum class GaugeKind { height, pressure, velocity, flux, force, torque, runup };
enum class ForceKind { uniform, point, vortex, drag };
enum class WaveKind { airy, stokes, absorb };
enum class Side { left, right, back, front };
enum class StepKind { adaptive, fixed };
enum class TallGaps { growing, single };
enum class TallAdvection { semi_lagrangian, upwind };

struct WallsParams {
    WallKind left = WallKind::slip, right = WallKind::slip;
    WallKind bottom = WallKind::slip, top = WallKind::slip;
    WallKind back = WallKind::slip, front = WallKind::slip;
};

struct DomainParams {
    std::vector<double> size;  // m; two numbers make it 2D. Required.
    int cells = 64;            // along the longest side
    Keyed<Vec3> gravity = Vec3{0, -9.81, 0};
    WallsParams walls;
};

// How the domain, and all of the scene with it, moves through the world.
struct MotionParams {
    Keyed<Vec3> translate, rotate;  // m; degrees about x, y, z
    std::optional<Vec3> center;     // m: what it turns about; the middle of the domain where not given
};

// A step is given what they are at its end, as constants: at_time() of scene/scene.h.
struct FluidParams {
    Keyed<double> density = 1000.0;
    Keyed<double> viscosity = 0.0;        // kinematic
    Keyed<double> surface_tension = 0.0;  // N/m
};

// The air over the water, where it flows by itself.
struct AirParams {
    Keyed<double> density = 1.2;
    Keyed<double> viscosity = 0.0;  // kinematic
};

// Smoke in air, with phases = "smoke".   [LGF04] §4
struct SmokeParams {
    double weight = 0;             // alpha: what a density of one weighs, as a part of the air's weight
    double buoyancy = 1.0 / 293;   // beta, 1/K
    double ambient = 293;          // K
    double confinement = 0;        // epsilon
    double cooling = 0;            // 1/s
    double dissipation = 0;        // 1/s
};

struct MethodParams {
    GridKind grid = GridKind::uniform;
    Phases phases = Phases::water;
    Solver solver = Solver::projection;
    SurfaceKind surface = SurfaceKind::particle_level_set;
    Advection advection = Advection::semi_lagrangian;  // of the velocity
    Interface interface = Interface::smeared;          // between water and air
    Preset preset = Preset::none;                      // params/presets.h
    Extrapolation extrapolation = Extrapolation::divergence_free;
    bool leapfrog = true;
    bool wall_separation = true;
    bool enclosed_air = true;
    bool phase_velocities = true;  // with air
    bool cip_far_air = false;      // with air
};

// Whether derivatives are carried, too.
constexpr bool is_cip(Advection a) { return a == Advection::cip || a == Advection::rational_cip; }
constexpr bool is_weno(Advection a) { return a == Advection::weno5 || a == Advection::forward_euler; }

// Cells of several sizes, each twice as large as the one before.   [LGF04]
struct OctreeParams {
    int levels = 0;  // of cells; 0: as many as the domain has room for
    OctreePressure pressure = OctreePressure::second_order;
    OctreeDistance distance = OctreeDistance::mean;  // of the pressures of a large and a small cell, with "losasso-2004"
    Advection advection = Advection::maccormack;     // of the velocity on large cells
    std::optional<double> vorticity;                 // cells over which the velocity changes by so much of the fastest are divided
    double density_from = 0.1, density_to = 0.3;     // of smoke; cells with densities between are the smallest
};

// A box without cells larger than those of a level.
struct RefineParams {
    std::optional<Vec3> min, max;  // m
    int level = 0;
    int line = 0;  // in the scene file, for messages
};

// With grid = "tall": which rows of a column have an unknown.   grid/columns.h
struct TallParams {
    std::optional<double> optical_depth;  // m; as little as the surface needs where not given
    TallGaps gaps = TallGaps::growing;
    TallAdvection advection = TallAdvection::semi_lagrangian;  // of the velocity in gaps
};

struct SurfaceParams {
    double band = 4;                              // cells each side in which phi is a distance
    Advection advection = Advection::maccormack;  // of phi
    double max_step = 5;                          // cells that the surface moves at once
    Redistancing distance = Redistancing::eikonal;
    int particles_per_cell = 8;
    SeedingKind seeding = SeedingKind::thinning;
    int reseed_every = 10;   // steps
    int reseed_frames = 0;   // 0: by steps
    bool close_gaps = true;
    double least_curvature = 0.5;  // 1/cells, with foster-fedkiw-2001
    bool spray = true;
    bool volume_correction = true;
    bool carry_volume = false;  // with air
};

// Droplets and bubbles that the grid cannot hold, of water and air.   [SSK05] §5
struct DropletParams {
    double drag = 0.5;            // coefficient; a sphere has about this
    double pieces_per_speed = 0;  // s/m: how many pieces more for each m/s
    int most_pieces = 8;
    double stretch = 0;    // s/m: how much longer than wide for each m/s
    double foam_life = 0;  // s m: of a bubble at the surface, times its radius
    Unreferenced unreferenced = Unreferenced::near_surface;
    bool after_projection = false;
};

// Spray, bubbles and foam over a finished run.   effects/whitewater.h; lengths and speeds from the domain where not given
struct WhitewaterParams {
    bool live = false;                       // while the run goes on
    std::optional<double> rise_speed, rise;        // m/s, 1/m³ (1/m² in 2D)
    std::optional<double> crest_curvature, crest;  // 1/m, 1/m³
    std::optional<double> trapped_speed, trapped;  // m/s, 1/m³
    std::optional<double> impact_speed;            // m/s
    double impact = 1;
    std::optional<double> size;  // m
    double spread = 0.5;
    double scatter = 0.2;
    double drag = 0.5;
    std::optional<Keyed<Vec3>> wind;  // m/s; the scene's where not given
    double split = 0.5;               // 1/s
    double foam_life = 1;             // s
    int most = 2000000;
    int seed = 0;
};

struct PressureParams {
    double tolerance = 1e-4;
    int max_iterations = 200;
    PressureSolver solver = PressureSolver::multigrid;
    double relaxation = 1.7;
};

struct TimeParams {
    int frames = 90;
    double rate = 30;  // frames per second
    double speed = 1;  // seconds of the scene for each second on the screen
    double cfl = 2;    // cells that the fastest water crosses in one step
    double max_step = std::numeric_limits<double>::infinity();
    StepKind step = StepKind::adaptive;

    double frame_seconds() const { return speed / rate; }  // in the scene
    double time_of(int frame) const { return frame * speed / rate; }
};

struct OutputParams {
    SurfaceFormat surface = SurfaceFormat::ply;
    bool revolve = false;  // 2D
    bool volume = false;
    bool heights = false;  // of a height field
    VolumeFormat volume_format = VolumeFormat::vdb;
    bool particles = true;            // spray
    bool preview = true;              // PNG each frame, movie.mp4 at the end
    bool preview_grid = false;        // with the grid's lines
    bool render = false;              // pictures by the renderer when all frames are there
    bool state = true;                // of each frame, for whatever is made of it later
    DropsShown drops = DropsShown::all;  // in pictures and files that are made of states
    int preview_width = 640;          // pixels
    int checkpoint_every = 10;        // frames
    double checkpoint_interval = 20;  // s
};

struct CameraParams {
    std::optional<Keyed<Vec3>> position, target;  // framed around the domain where not given
    Keyed<double> fov = 40.0;                     // vertical, degrees
    double orbit = 0;                             // degrees per second
    std::optional<Keyed<double>> focus;           // m; at the target where not given
    double aperture = 0;                          // m, the lens's diameter
    double shutter = 0;                           // frames that it stays open
    std::string path;                             // by its name: the camera's way, instead of position
};

// How frames are rendered.
struct RenderParams {
    int width = 960, height = 540;
    int samples = 64;
    int bounces = 32;
    bool caustics = true;
    int photons = 200000;  // of every four samples
    bool denoise = true;
    double exposure = 0;  // stops
    bool exr = true;
    SurfaceFilter surface = SurfaceFilter::tricubic;
    WaterLook water = WaterLook::pool;
    std::optional<Vec3> absorption, scattering;  // 1/m for red, green and blue, instead of what `water` says
    FloorLook floor = FloorLook::tiles;
    Vec3 floor_color{0.44, 0.43, 0.41};
    std::optional<double> floor_size;  // m
    std::string floor_image;
    bool tank = true;
    std::optional<double> smoke_extinction;  // 1/m at density one; fits the domain where not given
    Vec3 smoke_albedo{0.92, 0.92, 0.92};
    double smoke_anisotropy = 0.3;
};

// A light; without any there is a sky with its sun.
struct LightParams {
    LightKind kind = LightKind::sky;
    std::optional<Vec3> direction;  // towards a sun
    double haze = 1;
    double strength = 1;
    Vec3 color{1, 1, 1};
    std::optional<Vec3> position, target;
    double width = 1, height = 1;  // m
    std::string image;
};

// The keys of every shape; which of them apply depends on `shape`.
struct ShapeParams {
    ShapeKind shape = ShapeKind::box;
    std::optional<Vec3> min, max;       // box, terrain
    std::optional<Vec3> center, radii;  // sphere, ellipsoid, cylinder, cone, torus
    std::optional<double> radius, height, major, minor;
    Vec3 axis{0, 1, 0};
    std::optional<Vec3> point, normal;   // plane: the inside is behind the normal
    std::string image, file;             // terrain, mesh
    std::optional<double> crest, depth;  // solitary wave, of the height above
    Toward toward = Toward::right;
    Keyed<Vec3> translate, rotate;  // m; degrees about x, y, z. Keyframes move a solid.
    double scale = 1;
    bool subtract = false;
    int line = 0;  // in the scene file, for messages
};

struct WaterParams : ShapeParams {
    Vec3 velocity{};
};
// Smoke that is there at the start.
struct CloudParams : ShapeParams {
    double density = 1;
    std::optional<double> temperature;  // K; the air's where not given
    Vec3 velocity{};
};
struct SolidParams : ShapeParams {
    std::string name;  // by which gauges know it
    SolidMotion motion = SolidMotion::keyframes;
    std::string path;      // by its name: the solid's way, instead of keyframes of translate
    bool heading = false;  // whether it turns to where its path leads
    // Of a body.
    std::optional<double> density, mass;
    Vec3 velocity{};
    Keyed<Vec3> spin;  // rad/s
    double friction = 0.5, restitution = 0.2;
    bool no_slip = false;
    SolidLook material = SolidLook::plaster;
    std::optional<Vec3> color;
    double roughness = 0.3;
    std::optional<double> temperature;  // K, with smoke; it warms nothing where not given
};
struct SourceParams : ShapeParams {
    std::optional<Keyed<Vec3>> velocity;  // m/s
    std::optional<Keyed<double>> rate;    // m³/s (m²/s in 2D)
    std::optional<double> drops;          // m: their diameter, where the water enters as drops
    std::optional<Keyed<double>> density, temperature;  // K; of smoke

    bool is_inlet() const { return velocity && !drops; }
    bool fills() const { return rate && !drops; }
};
struct SinkParams : ShapeParams {
    std::optional<Keyed<double>> rate;  // m³/s; takes all that comes where not given
    Keyed<double> open = 1.0;           // from a half on it is open
};

// Wind over the water.   [EMF02] §3.3.3
struct WindParams {
    Keyed<Vec3> velocity;
    double shear = 0;       // 1/s: faster by this per metre of height
    double shear_from = 0;  // the height at which it has its velocity, m
    Keyed<double> alpha = 1.0;
    std::optional<double> fade;        // m; a cell where not given
    std::optional<ShapeParams> where;  // everywhere where not given
};

// A field of acceleration on what flows.
struct ForceParams {
    std::optional<ForceKind> kind;
    Keyed<Vec3> acceleration;             // uniform: m/s²
    Keyed<double> strength = 0.0;         // point, vortex: m/s²
    std::optional<Keyed<Vec3>> around;    // point, vortex: m
    Vec3 turns_about{0, 0, 1};            // vortex
    std::optional<double> falloff;        // point, vortex: m
    Keyed<Vec3> velocity;                 // drag: m/s
    Keyed<double> rate = 0.0;             // drag: 1/s
    std::optional<double> fade;           // m; a cell where not given
    std::optional<ShapeParams> where;     // everywhere where not given
};

// Vortex particles, and where they start.   effects/vortices.h
struct VorticesParams : ShapeParams {
    int count = 0;                 // at the start
    Keyed<double> rate = 0.0;      // 1/s
    Keyed<Vec3> strength;          // m³/s² (m²/s² in 2D)
    double scatter = 0;            // of its direction
    std::optional<double> size;    // m: the whirls' radius; two cells where not given
    double life = 1;               // s
    std::string solid;             // by its name: the shape goes with it
};

// Waves that come from a side of the domain, or end there.
struct WavesParams {
    std::optional<WaveKind> kind;
    Side side = Side::left;
    std::optional<double> length, period;  // m, s: one of them
    double height = 0;                     // m, from trough to crest
    std::optional<double> level;           // m: where the water is still
    double bottom = 0;                     // m
    std::optional<double> zone;            // m; a wavelength and a half where not given
    std::optional<double> ramp;            // s; two periods where not given
};

// A pressure on the free surface.   [FM96] §5
struct SurfacePressureParams {
    Keyed<double> pressure = 0.0;               // Pa
    std::optional<double> wavelength, wave_height;  // m: of the waves that it raises as it travels
    std::optional<double> within;                   // s: in which it does so
    Vec3 direction{1, 0, 0};
    std::optional<double> level;                // m: where the water is still
    double bottom = 0;                          // m
    std::optional<double> fade;                 // m; a cell where not given
    std::optional<ShapeParams> where;           // everywhere where not given
};

// A smooth way through points.
struct PathParams {
    std::string name;
    Keyed<Vec3> points;  // m, each at its time

    Keyed<Vec3> way() const
    {
        Keyed<Vec3> smooth = points;
        for (auto& key : smooth.keys) key.ease = Ease::smooth;
        return smooth;
    }
};

// What ties a body to another, or to the domain.
struct JointParams {
    std::optional<JointKind> kind;
    std::string body, to;        // by name; without `to`, the domain
    std::optional<Vec3> point;   // m, at the start: what a hinge turns about
    std::optional<Vec3> along;   // a hinge's axis, or the way that a slider leaves free
};

// An instrument in the water, read after every step.
struct GaugeParams {
    std::string name;
    std::optional<GaugeKind> kind;
    std::optional<Vec3> point;     // height, pressure, velocity; torque: about it
    std::optional<Vec3> min, max;  // flux: the rectangle; runup: where to look
    std::string solid;             // force, torque
    int line = 0;                  // in the scene file, for messages
};

// A velocity that is given instead of the water's own.   [EMF02] §3.1
struct FlowParams {
    FlowField field = FlowField::rotation;
    double period = 1;  // s
};

struct Params {
    std::string title;
    DomainParams domain;
    std::optional<MotionParams> motion;
    FluidParams fluid;
    AirParams air;
    SmokeParams smoke;
    MethodParams method;
    OctreeParams octree;
    TallParams tall;
    SurfaceParams surface;
    DropletParams droplets;
    WhitewaterParams whitewater;
    PressureParams pressure;
    TimeParams time;
    OutputParams output;
    CameraParams camera;
    RenderParams render;
    std::vector<LightParams> light;
    std::vector<RefineParams> refine;
    std::vector<WaterParams> water;
    std::vector<CloudParams> cloud;
    std::vector<SolidParams> solid;
    std::vector<SolidParams> floats;  // of [[solid]], those with motion = "float": no part of what the water meets
    std::vector<SourceParams> source;
    std::vector<SinkParams> sink;
    std::optional<WindParams> wind;
    std::vector<ForceParams> force;
    std::vector<VorticesParams> vortices;
    std::vector<WavesParams> waves;
    std::vector<SurfacePressureParams> surface_pressure;
    std::vector<PathParams> path;
    std::vector<JointParams> joint;
    std::vector<GaugeParams> gauge;
    std::optional<FlowParams> flow;

    int dimension() const { return static_cast<int>(domain.size.size()); }
    // Null where there is none of that name.
    const PathParams* find_path(const std::string& name) const
    {
        for (const PathParams& p : path)
            if (p.name == name) return &p;
        return nullptr;
    }
};

}  // namespace tarn
