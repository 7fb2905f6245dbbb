#include "tarn/params/tables.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace tarn {

namespace {

// ---- The words of every choice ----

template <class Enum>
constexpr Word word(const char* text, Enum value, const char* instead = nullptr)
{
    return {text, static_cast<int>(value), instead};
}

constexpr Word wall_words[] = {
    word("slip", WallKind::slip),
    word("no-slip", WallKind::no_slip),
    word("open", WallKind::open),
};
constexpr Word grid_words[] = {
    word("uniform", GridKind::uniform),
    word("octree", GridKind::octree),
    word("tall", GridKind::tall),
};
constexpr Word gap_words[] = {
    word("growing", TallGaps::growing),
    word("single", TallGaps::single),
};
constexpr Word tall_advection_words[] = {
    word("semi-lagrangian", TallAdvection::semi_lagrangian),
    word("upwind", TallAdvection::upwind),
};
constexpr Word phase_words[] = {
    word("water", Phases::water),
    word("water-air", Phases::water_air),
    word("smoke", Phases::smoke),
};
constexpr Word octree_pressure_words[] = {
    word("second-order", OctreePressure::second_order),
    word("losasso-2004", OctreePressure::losasso_2004),
};
constexpr Word octree_distance_words[] = {
    word("mean", OctreeDistance::mean),
    word("large", OctreeDistance::large),
    word("small", OctreeDistance::small),
    word("centres", OctreeDistance::centres),
};
constexpr Word method_solver_words[] = {
    word("projection", Solver::projection),
    word("foster-metaxas", Solver::foster_metaxas),
};
constexpr Word surface_words[] = {
    word("particle-level-set", SurfaceKind::particle_level_set),
    word("one-sided-particles", SurfaceKind::one_sided_particles),
    word("foster-fedkiw-2001", SurfaceKind::foster_fedkiw_2001),
    word("level-set", SurfaceKind::level_set),
    word("markers", SurfaceKind::markers),
    word("marker-chains", SurfaceKind::marker_chains),
    word("height-field", SurfaceKind::height_field),
};
constexpr Word advection_words[] = {
    word("semi-lagrangian", Advection::semi_lagrangian),
    word("semi-lagrangian-rk3", Advection::semi_lagrangian_rk3),
    word("maccormack", Advection::maccormack),
    word("weno5", Advection::weno5),
    word("forward-euler", Advection::forward_euler),
    word("cip", Advection::cip),
    word("rational-cip", Advection::rational_cip),
    word("linear", Advection::semi_lagrangian),
};
constexpr Word redistancing_words[] = {
    word("eikonal", Redistancing::eikonal),
    word("reinitialize", Redistancing::reinitialize),
    word("enright-2002", Redistancing::enright_2002),
    word("song-2005", Redistancing::song_2005),
};
constexpr Word preset_words[] = {
    word("none", Preset::none),
    word("foster-1996", Preset::foster_1996),
    word("enright-2002", Preset::enright_2002),
    word("losasso-2004", Preset::losasso_2004),
    word("song-2005", Preset::song_2005),
    word("irving-2006", Preset::irving_2006),
};
constexpr Word extrapolation_words[] = {
    word("divergence-free", Extrapolation::divergence_free),
    word("constant", Extrapolation::constant),
};
constexpr Word seeding_words[] = {
    word("thinning", SeedingKind::thinning),
    word("even", SeedingKind::even),
};
constexpr Word unreferenced_words[] = {
    word("near-surface", Unreferenced::near_surface),
    word("all", Unreferenced::all),
};
constexpr Word interface_words[] = {
    word("smeared", Interface::smeared),
    word("sharp", Interface::sharp),
};
constexpr Word solver_words[] = {
    word("multigrid", PressureSolver::multigrid),
    word("mic0", PressureSolver::mic0),
    word("relaxation", PressureSolver::relaxation),
    word("hypre", PressureSolver::hypre),
};
constexpr Word format_words[] = {
    word("ply", SurfaceFormat::ply), word("obj", SurfaceFormat::obj),   word("usd", SurfaceFormat::usd),
    word("vtp", SurfaceFormat::vtp), word("none", SurfaceFormat::none),
};
constexpr Word drops_words[] = {
    word("all", DropsShown::all),
    word("run", DropsShown::run),
    word("whitewater", DropsShown::whitewater),
    word("none", DropsShown::none),
};
constexpr Word volume_words[] = {
    word("vdb", VolumeFormat::vdb),
    word("vti", VolumeFormat::vti),
    word("npz", VolumeFormat::npz),
};
constexpr Word shape_kind_words[] = {
    word("box", ShapeKind::box),
    word("sphere", ShapeKind::sphere),
    word("ellipsoid", ShapeKind::ellipsoid),
    word("cylinder", ShapeKind::cylinder),
    word("cone", ShapeKind::cone),
    word("torus", ShapeKind::torus),
    word("plane", ShapeKind::plane),
    word("terrain", ShapeKind::terrain),
    word("mesh", ShapeKind::mesh),
    word("solitary_wave", ShapeKind::solitary_wave),
};
constexpr Word toward_words[] = {
    word("right", Toward::right),
    word("left", Toward::left),
};

constexpr Word flow_words[] = {
    word("rotation", FlowField::rotation),
    word("vortex", FlowField::vortex),
    word("deformation", FlowField::deformation),
};

constexpr Word look_words[] = {
    word("plaster", SolidLook::plaster), word("plastic", SolidLook::plastic), word("metal", SolidLook::metal),
    word("mirror", SolidLook::mirror),   word("glass", SolidLook::glass),
};
constexpr Word light_words[] = {
    word("sky", LightKind::sky),
    word("sun", LightKind::sun),
    word("area", LightKind::area),
    word("image", LightKind::image),
};
constexpr Word water_look_words[] = {
    word("pool", WaterLook::pool),
    word("clear", WaterLook::clear),
    word("murky", WaterLook::murky),
    word("milk", WaterLook::milk),
};
constexpr Word floor_words[] = {
    word("tiles", FloorLook::tiles), word("plain", FloorLook::plain), word("checker", FloorLook::checker),
    word("image", FloorLook::image), word("none", FloorLook::none),
};
constexpr Word ease_kind_words[] = {
    word("linear", Ease::linear), word("in", Ease::in),       word("out", Ease::out),
    word("in-out", Ease::in_out), word("curve", Ease::curve), word("smooth", Ease::smooth),
};
constexpr Word motion_words[] = {
    word("keyframes", SolidMotion::keyframes),
    word("body", SolidMotion::body),
    word("float", SolidMotion::carried),
};
constexpr Word joint_words[] = {
    word("hinge", JointKind::hinge),
    word("slider", JointKind::slider),
};
constexpr Word gauge_words[] = {
    word("height", GaugeKind::height),     word("pressure", GaugeKind::pressure),
    word("velocity", GaugeKind::velocity), word("flux", GaugeKind::flux),
    word("force", GaugeKind::force),       word("torque", GaugeKind::torque),
    word("runup", GaugeKind::runup),
};
constexpr Word force_words[] = {
    word("uniform", ForceKind::uniform),
    word("point", ForceKind::point),
    word("vortex", ForceKind::vortex),
    word("drag", ForceKind::drag),
};
constexpr Word wave_words[] = {
    word("airy", WaveKind::airy),
    word("stokes", WaveKind::stokes),
    word("absorb", WaveKind::absorb),
};
constexpr Word side_words[] = {
    word("left", Side::left),
    word("right", Side::right),
    word("back", Side::back),
    word("front", Side::front),
};
constexpr Word step_words[] = {
    word("adaptive", StepKind::adaptive),
    word("fixed", StepKind::fixed),
};
constexpr Word filter_words[] = {
    word("tricubic", SurfaceFilter::tricubic),
    word("trilinear", SurfaceFilter::trilinear),
};

std::span<const Word> words(WallKind) { return wall_words; }
std::span<const Word> words(GridKind) { return grid_words; }
std::span<const Word> words(TallGaps) { return gap_words; }
std::span<const Word> words(TallAdvection) { return tall_advection_words; }
std::span<const Word> words(Phases) { return phase_words; }
std::span<const Word> words(OctreePressure) { return octree_pressure_words; }
std::span<const Word> words(OctreeDistance) { return octree_distance_words; }
std::span<const Word> words(Solver) { return method_solver_words; }
std::span<const Word> words(SurfaceKind) { return surface_words; }
std::span<const Word> words(Advection) { return advection_words; }
std::span<const Word> words(Redistancing) { return redistancing_words; }
std::span<const Word> words(Interface) { return interface_words; }
std::span<const Word> words(Preset) { return preset_words; }
std::span<const Word> words(Extrapolation) { return extrapolation_words; }
std::span<const Word> words(SeedingKind) { return seeding_words; }
std::span<const Word> words(Unreferenced) { return unreferenced_words; }
std::span<const Word> words(PressureSolver) { return solver_words; }
std::span<const Word> words(SurfaceFormat) { return format_words; }
std::span<const Word> words(DropsShown) { return drops_words; }
std::span<const Word> words(VolumeFormat) { return volume_words; }
std::span<const Word> words(ShapeKind) { return shape_kind_words; }
std::span<const Word> words(Toward) { return toward_words; }
std::span<const Word> words(FlowField) { return flow_words; }
std::span<const Word> words(SolidLook) { return look_words; }
std::span<const Word> words(LightKind) { return light_words; }
std::span<const Word> words(WaterLook) { return water_look_words; }
std::span<const Word> words(FloorLook) { return floor_words; }
std::span<const Word> words(SolidMotion) { return motion_words; }
std::span<const Word> words(JointKind) { return joint_words; }
std::span<const Word> words(GaugeKind) { return gauge_words; }
std::span<const Word> words(ForceKind) { return force_words; }
std::span<const Word> words(WaveKind) { return wave_words; }
std::span<const Word> words(Side) { return side_words; }
std::span<const Word> words(StepKind) { return step_words; }
std::span<const Word> words(SurfaceFilter) { return filter_words; }

// ---- Rows from members ----

template <auto Member>
struct Of;
template <class Struct, class Type, Type Struct::*Member>
struct Of<Member> {
    using S = Struct;
    using T = Type;
};

template <class T>
struct Unwrap {
    using Type = T;
};
template <class T>
struct Unwrap<std::optional<T>> {
    using Type = T;
};

// The member as a value; nothing where it says "not given": an empty optional, text or list, or no upper limit.
template <auto Member>
std::optional<ParamValue> value_of(const void* object)
{
    using T = typename Of<Member>::T;
    const T& member = static_cast<const typename Of<Member>::S*>(object)->*Member;
    if constexpr (!std::is_same_v<T, typename Unwrap<T>::Type>) {
        if (!member) return {};
        if constexpr (std::is_enum_v<typename Unwrap<T>::Type>)
            return ParamValue(static_cast<int>(*member));
        else
            return ParamValue(*member);
    } else if constexpr (std::is_enum_v<T>) {
        return ParamValue(static_cast<int>(member));
    } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<double>>) {
        if (member.empty()) return {};
        return ParamValue(member);
    } else if constexpr (std::is_same_v<T, double>) {
        if (member == std::numeric_limits<double>::infinity()) return {};
        return ParamValue(member);
    } else {
        return ParamValue(member);
    }
}

template <auto Member>
void assign(void* object, const ParamValue& value)
{
    using T = typename Of<Member>::T;
    T& member = static_cast<typename Of<Member>::S*>(object)->*Member;
    using Inner = typename Unwrap<T>::Type;
    if constexpr (std::is_enum_v<Inner>)
        member = static_cast<Inner>(std::get<int>(value));
    else
        member = std::get<Inner>(value);
}

template <auto Member>
ParamRow row(ParamKind kind, const char* name, const char* unit, double lo, double hi, const char* meaning)
{
    ParamRow r{name, kind, unit, lo, hi, meaning, {}, &value_of<Member>, &assign<Member>};
    using T = typename Unwrap<typename Of<Member>::T>::Type;
    if constexpr (std::is_enum_v<T>) r.words = words(T{});
    return r;
}

template <auto Member>
ParamRow number(const char* name, const char* unit, double lo, double hi, const char* meaning)
{
    using T = typename Unwrap<typename Of<Member>::T>::Type;
    return row<Member>(std::is_same_v<T, Keyed<double>> ? ParamKind::keyed_number : ParamKind::number, name, unit, lo,
                       hi, meaning);
}
template <auto Member>
ParamRow integer(const char* name, const char* unit, double lo, double hi, const char* meaning)
{
    return row<Member>(ParamKind::integer, name, unit, lo, hi, meaning);
}
template <auto Member>
ParamRow vector(const char* name, const char* unit, double lo, double hi, const char* meaning)
{
    using T = typename Unwrap<typename Of<Member>::T>::Type;
    return row<Member>(std::is_same_v<T, Keyed<Vec3>> ? ParamKind::keyed_vector : ParamKind::vector, name, unit, lo, hi,
                       meaning);
}
template <auto Member>
ParamRow choice(const char* name, const char* meaning)
{
    return row<Member>(ParamKind::choice, name, "", 0, 0, meaning);
}
template <auto Member>
ParamRow boolean(const char* name, const char* meaning)
{
    return row<Member>(ParamKind::boolean, name, "", 0, 0, meaning);
}
template <auto Member>
ParamRow text(const char* name, const char* meaning)
{
    return row<Member>(ParamKind::text, name, "", 0, 0, meaning);
}

ParamRow required(ParamRow r)
{
    r.required = true;
    return r;
}
ParamRow only_3d(ParamRow r)
{
    r.only_3d = true;
    return r;
}
// A key that only these shapes take, and cannot do without.
template <class... Kinds>
ParamRow in(ParamRow r, Kinds... kinds)
{
    r.shapes = (... | (1u << static_cast<int>(kinds)));
    r.required = true;
    return r;
}
// A key with a default, that only these shapes take.
template <class... Kinds>
ParamRow may(ParamRow r, Kinds... kinds)
{
    r.shapes = (... | (1u << static_cast<int>(kinds)));
    return r;
}
ParamRow in_all(ParamRow r)
{
    r.shapes = ~0u;
    return r;
}

// Farther than this, in metres, nothing is water.
constexpr double far = 1e6;
constexpr double fast = 1e5;

// ---- The tables ----

const ParamRow top_rows[] = {
    text<&Params::title>("title", "What the scene is called."),
};

const ParamRow domain_rows[] = {
    required(row<&DomainParams::size>(ParamKind::numbers, "size", "m", 1e-4, far,
                                      "Width, height and depth; two numbers make the scene 2D. One corner is the "
                                      "origin; y is up.")),
    integer<&DomainParams::cells>("cells", "", 4, 100000, "Cells along the longest side."),
    vector<&DomainParams::gravity>("gravity", "m/s²", -1e4, 1e4,
                                   "Acceleration of everything that flows; keyframes turn it."),
};

const ParamRow wall_rows[] = {
    choice<&WallsParams::left>("left", "The wall at x = 0."),
    choice<&WallsParams::right>("right", "The wall at the largest x."),
    choice<&WallsParams::bottom>("bottom", "The wall at y = 0."),
    choice<&WallsParams::top>("top", "The wall at the largest y."),
    only_3d(choice<&WallsParams::back>("back", "The wall at z = 0.")),
    only_3d(choice<&WallsParams::front>("front", "The wall at the largest z.")),
};

const ParamRow motion_rows[] = {
    vector<&MotionParams::translate>("translate", "m", -far, far, "How far the domain has moved; keyframes move it."),
    row<&MotionParams::rotate>(ParamKind::keyed_turn, "rotate", "degrees", -1e6, 1e6,
                               "How far it has turned about x, then y, then z; in 2D, one angle. Keyframes turn it."),
    vector<&MotionParams::center>("center", "m", -far, far,
                                  "The point of the domain that it turns about; its middle where not given."),
};

const ParamRow fluid_rows[] = {
    number<&FluidParams::density>("density", "kg/m³", 1e-3, 1e5, "Mass per volume; keyframes change it."),
    number<&FluidParams::viscosity>("viscosity", "m²/s", 0, 1e4, "Kinematic viscosity; water has 1e-6. Keyframes change it."),
    number<&FluidParams::surface_tension>("surface_tension", "N/m", 0, 1e3, "Water against air has 0.072. Keyframes change it."),
};

const ParamRow air_rows[] = {
    number<&AirParams::density>("density", "kg/m³", 1e-3, 1e5, "Mass per volume; keyframes change it."),
    number<&AirParams::viscosity>("viscosity", "m²/s", 0, 1e4, "Kinematic viscosity; air has 1.5e-5. Keyframes change it."),
};

const ParamRow smoke_rows[] = {
    number<&SmokeParams::weight>("weight", "", -1e4, 1e4,
                                 "How much heavier than air of the same temperature air with a density of one is, as a "
                                 "part of the air's weight."),
    number<&SmokeParams::buoyancy>("buoyancy", "1/K", 0, 1e3,
                                   "How much lighter air becomes for each degree, as a part of its weight; 1/293 is that "
                                   "of air at 293 K."),
    number<&SmokeParams::ambient>("ambient", "K", 0, 1e5, "Temperature of the air around."),
    number<&SmokeParams::confinement>("confinement", "", 0, 10,
                                      "How strongly vortices that the grid would smear are kept up; with 0 they are not."),
    number<&SmokeParams::cooling>("cooling", "1/s", 0, 1e6, "How fast temperatures go back to that of the air around."),
    number<&SmokeParams::dissipation>("dissipation", "1/s", 0, 1e6, "How fast the smoke vanishes."),
};

const ParamRow method_rows[] = {
    choice<&MethodParams::grid>("grid", "How space is divided into cells."),
    choice<&MethodParams::phases>("phases", "What flows."),
    choice<&MethodParams::solver>("solver",
                                  "How the water moves: carried along, then projected; or by the explicit scheme of "
                                  "1996, with whole cells for solids and short steps."),
    choice<&MethodParams::surface>("surface",
                                   "What carries the surface. With the solver \"foster-metaxas\", \"markers\" unless "
                                   "given."),
    choice<&MethodParams::advection>("advection",
                                     "How the velocity is carried along; \"linear\" is \"semi-lagrangian\". "
                                     "With air, \"cip\" unless given, and with smoke \"maccormack\"."),
    choice<&MethodParams::interface>(
        "interface",
        "With air: whether density changes over three cells or from one to the next, which "
        "keeps waves livelier."),
    choice<&MethodParams::preset>("preset",
                                  "A paper's method: every choice that a scene leaves open is made as there. docs/presets.md "
                                  "says which, and so does `tarn params`."),
    choice<&MethodParams::extrapolation>("extrapolation",
                                         "The velocity in the first dry cells beside the water: without divergence, or constant "
                                         "across the surface as in [EMF02]."),
    boolean<&MethodParams::leapfrog>("leapfrog",
                                     "The velocity is that of the middle of the surface's step, which keeps the energy of waves. "
                                     "Without, both are of one time, first order."),
    boolean<&MethodParams::wall_separation>("wall_separation",
                                            "Water parts from walls that would have to pull at it. Without, they pull. With air "
                                            "it has no part."),
    boolean<&MethodParams::enclosed_air>("enclosed_air",
                                         "Air that water and walls enclose keeps its volume. Without, its pressure is zero, as "
                                         "that of the atmosphere. With air it has no part."),
    boolean<&MethodParams::phase_velocities>("phase_velocities",
                                             "With air: near the surface each phase's velocity is carried by itself. Without, "
                                             "both have one, as in [SSK05]."),
    boolean<&MethodParams::cip_far_air>("cip_far_air",
                                        "With air and CIP: the velocity of air farther from the water is carried by CIP, too, as "
                                        "in [SSK05]; linearly, it takes half the time."),
};

const ParamRow octree_rows[] = {
    integer<&OctreeParams::levels>("levels", "", 0, 12,
                                   "How many sizes of cells there are, each twice as large as the one before; 1 is a uniform "
                                   "grid, 0 as many as the domain has room for."),
    choice<&OctreeParams::pressure>("pressure",
                                    "The gradient between a large cell and the small ones beside it: to the mean of their "
                                    "pressures, second order; or to each of them, as in 2004, first order."),
    choice<&OctreeParams::distance>("distance",
                                    "With \"losasso-2004\": the distance that the difference of two pressures is divided by. "
                                    "The mean of the two cells' sizes, the large or the small one, or that of their centres."),
    choice<&OctreeParams::advection>("advection",
                                     "How the velocity is carried along on larger cells, which are the more diffusive."),
    number<&OctreeParams::vorticity>("vorticity", "", 1e-4, 1e4,
                                     "Cells are divided over which the velocity changes by more than this part of the fastest flow, by "
                                     "their vorticity. With smoke 0.2 unless given; water's are not then."),
    number<&OctreeParams::density_from>("density_from", "", 0, 1e6,
                                        "With smoke: where its density is between this and density_to, or comes to be across it from "
                                        "one cell to the next, cells are the smallest: there it is seen."),
    number<&OctreeParams::density_to>("density_to", "", 0, 1e6, "With smoke: see density_from."),
};

const ParamRow refine_rows[] = {
    required(vector<&RefineParams::min>("min", "m", -far, far, "The lowest corner.")),
    required(vector<&RefineParams::max>("max", "m", -far, far, "The highest corner.")),
    integer<&RefineParams::level>("level", "", 0, 11, "The largest cells in it: 0 are the smallest, 1 are twice as large."),
};

const ParamRow tall_rows[] = {
    number<&TallParams::optical_depth>("optical_depth", "m", 0, far,
                                       "How far below the surface every row of cells is kept; no less than the surface needs, "
                                       "which it is where not given."),
    choice<&TallParams::gaps>("gaps",
                              "How the rows below thin out: each gap twice as high as the one above it, or a single gap down "
                              "to the ground, as in [IGLF06], which lets waves run too fast."),
    choice<&TallParams::advection>("advection",
                                   "How the velocity below the layer is carried: along paths, or by first-order upwind fluxes, as in "
                                   "[IGLF06], which keep its momentum."),
};

const ParamRow surface_rows[] = {
    number<&SurfaceParams::band>("band", "cells", 2, 64, "How far on each side of the surface phi is a distance."),
    choice<&SurfaceParams::advection>("advection",
                                      "How the surface is carried along. With air, \"cip\" unless given."),
    number<&SurfaceParams::max_step>(
        "max_step", "cells", 0.1, 100,
        "How far the surface and its particles move at once; longer steps are divided. With air "
        "they are not."),
    choice<&SurfaceParams::distance>("distance",
                                     "How phi is made a distance again: outwards from the surface, or by fictitious "
                                     "steps of its own equation."),
    integer<&SurfaceParams::particles_per_cell>(
        "particles_per_cell", "", 1, 1000,
        "Particles in each cell near the surface. More keep thin sheets and sharp corners longer. "
        "Markers stand in all water, as a lattice of at least so many; 16 unless given."),
    choice<&SurfaceParams::seeding>("seeding",
                                    "Fewer particles towards the rim of the band, or as many in every cell of it, as in "
                                    "[EMF02]."),
    integer<&SurfaceParams::reseed_every>("reseed_every", "steps", 1, 1e6,
                                          "How often particles are added and removed where the surface has changed."),
    integer<&SurfaceParams::reseed_frames>("reseed_frames", "frames", 0, 1e6,
                                           "The same in frames, instead of steps, where it is not 0."),
    boolean<&SurfaceParams::close_gaps>("close_gaps",
                                        "In gaps between surfaces that approach each other, each comes with its own velocity, and "
                                        "particles of air give way, and, with method.wall_separation, water that would meet other "
                                        "water or a side of the domain within a step is stopped there. Without, both sides are "
                                        "treated alike, as in [EMF02]. With air it has no part."),
    number<&SurfaceParams::least_curvature>("least_curvature", "1/cells", 0, 10,
                                            "With \"foster-fedkiw-2001\": where the surface is less curved, particles do not "
                                            "change phi."),
    boolean<&SurfaceParams::volume_correction>(
        "volume_correction",
        "Move the surface of each body of water in or out until its volume is what it should be, and the whole surface, "
        "so that there is as much water as there should be."),
    boolean<&SurfaceParams::carry_volume>(
        "carry_volume",
        "With air: carry the volume that every cell should hold along with the flow, and let the surface follow it, so "
        "that what is too thin for the level set is not lost."),
    boolean<&SurfaceParams::spray>(
        "spray",
        "Let water that the grid cannot hold fly on as drops; without, it is lost. With air, bubbles "
        "likewise."),
};

const ParamRow fragment_rows[] = {
    number<&DropletParams::drag>("drag", "", 0, 100, "Drag coefficient of a droplet or bubble; a sphere has about 0.5."),
    number<&DropletParams::pieces_per_speed>("pieces_per_speed", "s/m", 0, 1e3,
                                              "Into how many parts more a droplet or bubble breaks for each m/s of its speed."),
    integer<&DropletParams::most_pieces>("most_pieces", "", 1, 1000, "How many pieces there are at most."),
    number<&DropletParams::stretch>("stretch", "s/m", 0, 1e3,
                                     "How much longer than wide a droplet or bubble is drawn for each m/s of its speed."),
    number<&DropletParams::foam_life>("foam_life", "s m", 0, 1e3,
                                       "How long a bubble stays at the surface as foam, times its radius: small ones "
                                       "last longer. With 0 bubbles burst at once."),
    choice<&DropletParams::unreferenced>("unreferenced",
                                          "Of cells that no path of a long step comes from: those near the surface become "
                                          "droplets and bubbles, which share the volume that is missing; or all, each with the "
                                          "volume that it had, as in [SSK05]."),
    boolean<&DropletParams::after_projection>("after_projection",
                                               "They move and return after the projection, as in [SSK05], instead of before."),
};

const ParamRow whitewater_rows[] = {
    boolean<&WhitewaterParams::live>("live",
                                     "Add it to each frame as the run goes on, as `tarn whitewater` would afterwards."),
    number<&WhitewaterParams::rise_speed>(
        "rise_speed", "m/s", 0, fast,
        "A surface that rises faster throws up droplets; sqrt(9.81 m/s² L) / 4 where not given, L being the domain's "
        "longest side."),
    number<&WhitewaterParams::rise>("rise", "1/m³", 0, 1e15,
                                    "Droplets for each square metre of it and each metre that it rises faster; (45 / "
                                    "L)³ where not given, in 2D squared."),
    number<&WhitewaterParams::crest_curvature>(
        "crest_curvature", "1/m", 0, 1e6,
        "A surface that bulges more and moves outwards throws up droplets: 2 / R of a ball, 1 / R of a crest; 30 / L where "
        "not given."),
    number<&WhitewaterParams::crest>("crest", "1/m³", 0, 1e15,
                                     "Droplets for each square metre of it and each metre that it moves; as rise where not "
                                     "given."),
    number<&WhitewaterParams::trapped_speed>("trapped_speed", "m/s", 0, fast,
                                             "Surfaces that meet faster enclose bubbles; as rise_speed where not given."),
    number<&WhitewaterParams::trapped>("trapped", "1/m³", 0, 1e15,
                                       "Bubbles for each square metre of them and each metre that they approach faster; as "
                                       "rise where not given."),
    number<&WhitewaterParams::impact_speed>(
        "impact_speed", "m/s", 1e-6, fast,
        "A droplet that lands faster throws up others; twice rise_speed's default where not given."),
    number<&WhitewaterParams::impact>("impact", "", 0, 100,
                                      "How many, for each time that it is faster than that by as much again; 8 at most."),
    number<&WhitewaterParams::size>("size", "m", 1e-9, 1e3,
                                    "Mean radius of droplets and bubbles; L / 800 where not given."),
    number<&WhitewaterParams::spread>("spread", "", 0, 0.99, "How far radii are from the mean at most, as a part of it."),
    number<&WhitewaterParams::scatter>("scatter", "", 0, 10,
                                       "Velocity away from the surface that droplets start with, at random: at most this "
                                       "part of their speed."),
    number<&WhitewaterParams::drag>("drag", "", 0, 100, "Drag coefficient of a droplet or bubble; a sphere has about 0.5."),
    vector<&WhitewaterParams::wind>("wind", "m/s", -fast, fast,
                                    "Wind that droplets feel; that of the scene where not given."),
    number<&WhitewaterParams::split>("split", "1/s", 0, 1e3, "The chance of a droplet in the air to divide, for each second."),
    number<&WhitewaterParams::foam_life>("foam_life", "s", 0, 1e6,
                                         "How long foam of the mean radius lives, in the mean; other radii in proportion. "
                                         "With 0 there is none."),
    integer<&WhitewaterParams::most>("most", "", 1, 1e8,
                                     "How many there are at most; beyond, fewer appear everywhere alike."),
    integer<&WhitewaterParams::seed>("seed", "", 0, 1e9, "Another number makes other random numbers."),
};

const ParamRow pressure_rows[] = {
    number<&PressureParams::tolerance>("tolerance", "", 1e-12, 1e-1,
                                       "Stop when the residual has fallen by this factor."),
    integer<&PressureParams::max_iterations>("max_iterations", "", 1, 1e6,
                                             "Give up after so many; with \"relaxation\", 100000 unless given."),
    choice<&PressureParams::solver>("solver",
                                    "What preconditions the conjugate gradients: the multigrid, incomplete Cholesky, or the "
                                    "algebraic multigrid of hypre where that is installed; or \"relaxation\" from cell to "
                                    "cell instead of them, slow and simple."),
    number<&PressureParams::relaxation>("relaxation", "", 1, 1.99,
                                        "How much further than to a balance relaxation changes the pressure of a cell."),
};

const ParamRow time_rows[] = {
    integer<&TimeParams::frames>("frames", "", 1, 1e6, "How many frames to simulate."),
    number<&TimeParams::rate>("rate", "1/s", 1e-3, 1e6, "Frames per second."),
    number<&TimeParams::speed>("speed", "", 1e-6, 1e6,
                               "Seconds of the scene for each second on the screen: 0.5 is slow motion at half speed."),
    number<&TimeParams::cfl>("cfl", "cells", 1e-2, 100, "How far the fastest water moves in one step. With the solver \"foster-metaxas\" less "
                             "than 1, and 0.5 unless given."),
    number<&TimeParams::max_step>("max_step", "s", 1e-9, 1e6,
                                  "No step is longer than this; without it only the other limits hold."),
    choice<&TimeParams::step>("step",
                              "Whether each step is as long as the water allows, or all are alike: each frame is divided "
                              "into as few as max_step allows, and is one where that is not given."),
};

const ParamRow output_rows[] = {
    choice<&OutputParams::surface>(
        "surface",
        "The format of the surface mesh of each frame, and of the solids: usd for Houdini and "
        "Blender, vtp for ParaView."),
    boolean<&OutputParams::revolve>("revolve",
                                    "Turn the outline of a 2D scene about the left side of the domain: the mesh is a surface "
                                    "of revolution."),
    boolean<&OutputParams::volume>("volume", "Also write the level set, the velocity and the pressure of each frame, as a volume."),
    choice<&OutputParams::volume_format>("volume_format",
                                         "The format of those: OpenVDB, or for ParaView, or for numpy."),
    boolean<&OutputParams::heights>("heights", "Also write the heights of each frame, as numpy reads them; with surface = \"height-field\"."),
    boolean<&OutputParams::particles>("particles",
                                      "Also write spray, drops, bubbles and foam of each frame, as points: into the "
                                      "surface's file with usd, else into one of its own."),
    boolean<&OutputParams::preview>("preview", "Draw each frame, and a movie at the end."),
    boolean<&OutputParams::preview_grid>("preview_grid", "Draw the grid's cells: on tall cells in 2D, in the drawings; on an octree into a folder "
                                                         "of their own, in 3D on a section."),
    boolean<&OutputParams::render>("render",
                                   "When all frames are there, render them; 3D only."),
    boolean<&OutputParams::state>("state",
                                  "Keep the water of each frame in a compact form, from which drawings, renders, "
                                  "meshes and volumes are made later."),
    choice<&OutputParams::drops>("drops",
                                 "Which droplets, bubbles and foam are in what is made of those later: the run's own, "
                                 "those of `tarn whitewater`, all or none."),
    integer<&OutputParams::preview_width>("preview_width", "pixels", 16, 8192, "Width of those pictures."),
    integer<&OutputParams::checkpoint_every>("checkpoint_every", "frames", 1, 1e6,
                                             "How often to save what a run resumes from."),
    number<&OutputParams::checkpoint_interval>("checkpoint_interval", "s", 0, 1e9,
                                               "Least time on the clock between two of them, so that quick runs do not "
                                               "wait for the disk. The last frame is always saved."),
};

const ParamRow camera_rows[] = {
    only_3d(vector<&CameraParams::position>("position", "m", -far, far,
                                            "Where the camera stands; framed around the domain where not given.")),
    only_3d(vector<&CameraParams::target>("target", "m", -far, far,
                                          "What it looks at; the middle of the domain where not given.")),
    only_3d(number<&CameraParams::fov>("fov", "degrees", 1, 170, "Vertical field of view.")),
    only_3d(number<&CameraParams::orbit>("orbit", "degrees/s", -3600, 3600,
                                         "How fast it goes around its target, to the right.")),
    only_3d(number<&CameraParams::focus>("focus", "m", 1e-6, far,
                                         "How far off things are sharp; its target where not given.")),
    only_3d(number<&CameraParams::aperture>("aperture", "m", 0, 1e3,
                                            "Diameter of the lens: the larger, the softer what is out of focus. "
                                            "Drawings have none.")),
    only_3d(number<&CameraParams::shutter>("shutter", "frames", 0, 1,
                                           "How long it stays open, from the frame's time on: motion blur. Drawings "
                                           "have none.")),
    only_3d(text<&CameraParams::path>("path", "The name of the [[path]] that it moves along, instead of position.")),
};

const ParamRow render_rows[] = {
    integer<&RenderParams::width>("width", "pixels", 16, 16384, "Of the picture."),
    integer<&RenderParams::height>("height", "pixels", 16, 16384, "Of the picture."),
    integer<&RenderParams::samples>("samples", "", 1, 1e6, "Paths for each pixel; four times as many halve the noise."),
    integer<&RenderParams::bounces>("bounces", "", 1, 1000, "Surfaces that a path may meet."),
    boolean<&RenderParams::caustics>("caustics", "Follow light through water and glass by photons."),
    integer<&RenderParams::photons>("photons", "", 1000, 1e8, "How many, for every four samples."),
    boolean<&RenderParams::denoise>(
        "denoise",
        "Smooth what noise is left in the PNG, guided by what is seen; the EXR has the light as it was found."),
    number<&RenderParams::exposure>("exposure", "stops", -20, 20, "Brighter or darker; each stop doubles."),
    boolean<&RenderParams::exr>("exr",
                                "Also write an EXR with radiance, albedo, normal, depth and velocity each frame."),
    choice<&RenderParams::surface>("surface", "The filter that reconstructs the water's surface from the grid."),
    choice<&RenderParams::water>(
        "water", "As blue as a pool, whatever the size of the domain; pure water; with silt in it; or milk."),
    only_3d(vector<&RenderParams::absorption>("absorption", "1/m", 0, 1e6,
                                              "Of red, green and blue, instead of what `water` says.")),
    only_3d(vector<&RenderParams::scattering>("scattering", "1/m", 0, 1e6,
                                              "Of red, green and blue, instead of what `water` says.")),
    choice<&RenderParams::floor>("floor", "What lies under the domain."),
    only_3d(vector<&RenderParams::floor_color>("floor_color", "", 0, 1, "Its reflectance in red, green and blue.")),
    number<&RenderParams::floor_size>("floor_size", "m", 1e-6, far,
                                      "Of a tile, a pair of squares or the image; fits the domain where not given."),
    text<&RenderParams::floor_image>("floor_image", "A PNG or EXR beside the scene file, for floor = \"image\"."),
    boolean<&RenderParams::tank>("tank", "Show the domain's edges as thin rods, where two closed walls meet."),
    only_3d(number<&RenderParams::smoke_extinction>("smoke_extinction", "1/m", 0, 1e6,
                                                    "What smoke of density one takes off light, for each metre; fits "
                                                    "the domain where not given.")),
    only_3d(vector<&RenderParams::smoke_albedo>("smoke_albedo", "", 0, 1,
                                                "The part of it that is scattered, of red, green and blue; the rest is "
                                                "absorbed.")),
    only_3d(number<&RenderParams::smoke_anisotropy>("smoke_anisotropy", "", -0.95, 0.95,
                                                    "Whether smoke scatters light forwards, towards 1, to all sides alike, or "
                                                    "back, towards -1.")),
};

const ParamRow light_rows[] = {
    choice<&LightParams::kind>(
        "kind", "A clear sky with its sun; a sun alone; a rectangle that shines; or a picture all around."),
    only_3d(vector<&LightParams::direction>("direction", "", -far, far,
                                            "Where the sun stands, of any length; chosen to suit the camera where not "
                                            "given.")),
    number<&LightParams::haze>("haze", "", 0, 100, "Dust and mist in a sky's air; a clear day has 1."),
    number<&LightParams::strength>(
        "strength", "", 0, 1e9,
        "Scales it; of a rectangle, its power in watts. In a day's sky white paper is about 1."),
    only_3d(vector<&LightParams::color>("color", "", 0, 1e3, "Red, green and blue of its light.")),
    only_3d(vector<&LightParams::position>("position", "m", -far, far, "The middle of a rectangle.")),
    only_3d(vector<&LightParams::target>("target", "m", -far, far,
                                         "What a rectangle faces; the middle of the domain where not given.")),
    number<&LightParams::width>("width", "m", 1e-6, far, "Of a rectangle."),
    number<&LightParams::height>("height", "m", 1e-6, far, "Of a rectangle."),
    text<&LightParams::image>("image",
                              "An EXR or PNG beside the scene file: longitude across, the zenith on top, -z in the "
                              "middle."),
};

using enum ShapeKind;

const ParamRow shape_table[] = {
    required(in_all(choice<&ShapeParams::shape>("shape", "Which shape this is; it decides which keys apply."))),
    in(vector<&ShapeParams::min>("min", "m", -far, far,
                                 "Lowest corner. In 2D boxes and terrain span all z. A terrain's image covers min to "
                                 "max in x and z, its top row at min z; black lies at min y."),
       box, terrain),
    in(vector<&ShapeParams::max>("max", "m", -far, far, "Highest corner. A terrain's white lies at max y."), box,
       terrain),
    in(vector<&ShapeParams::center>("center", "m", -far, far,
                                    "The middle; of a cylinder, the middle of its axis; of a cone, the middle of its "
                                    "base."),
       sphere, ellipsoid, cylinder, cone, torus),
    in(number<&ShapeParams::radius>("radius", "m", 1e-6, far,
                                    "From the axis or the middle to the surface; of a cone, at its base."),
       sphere, cylinder, cone),
    in(vector<&ShapeParams::radii>("radii", "m", 1e-6, far, "Half the extent along x, y and z."), ellipsoid),
    in(number<&ShapeParams::height>(
           "height", "m", 1e-6, far,
           "Along the axis. A cone points along its axis. Of a solitary wave, from the still water up to its "
           "crest."),
       cylinder, cone, solitary_wave),
    in(number<&ShapeParams::major>("major", "m", 1e-6, far, "From the middle of the torus to the middle of its tube."),
       torus),
    in(number<&ShapeParams::minor>("minor", "m", 1e-6, far, "Radius of the tube."), torus),
    may(vector<&ShapeParams::axis>("axis", "", -far, far, "Direction of the axis, of any length."), cylinder, cone,
        torus),
    in(vector<&ShapeParams::point>("point", "m", -far, far, "Any point of the plane."), plane),
    in(vector<&ShapeParams::normal>("normal", "", -far, far, "Points out of the shape: the inside is behind it."),
       plane),
    in(text<&ShapeParams::image>("image",
                                 "Heights as an 8- or 16-bit grey PNG, beside the scene file. The ground goes on past "
                                 "the image's edges and downwards; in 2D the middle row is used."),
       terrain),
    in(text<&ShapeParams::file>("file",
                                "A closed mesh beside the scene file: .obj, .ply, .stl, .glb, .gltf, .fbx or .dae; 2D takes its "
                                "section at z = 0."),
       mesh),
    in(number<&ShapeParams::crest>("crest", "m", -far, far, "Where along x the crest of a solitary wave is."),
       solitary_wave),
    in(number<&ShapeParams::depth>("depth", "m", 1e-6, far,
                                   "Of the still water around a solitary wave, over a bottom at y = 0."),
       solitary_wave),
    may(choice<&ShapeParams::toward>("toward", "The way a solitary wave travels along x."), solitary_wave),
    in_all(number<&ShapeParams::scale>("scale", "", 1e-6, 1e6, "Applied first, about the origin.")),
    in_all(row<&ShapeParams::rotate>(ParamKind::keyed_turn, "rotate", "degrees", -1e6, 1e6,
                                     "Applied second, about the origin: about x, then y, then z; in 2D one number. "
                                     "Keyframes turn a solid, or where the wind blows.")),
    in_all(vector<&ShapeParams::translate>("translate", "m", -far, far,
                                           "Applied last. Keyframes move a solid, or where the wind blows.")),
    in_all(boolean<&ShapeParams::subtract>("subtract",
                                           "Cut this shape out of the entries before it; only of water and solids.")),
};

const ParamRow water_rows[] = {
    vector<&WaterParams::velocity>("velocity", "m/s", -fast, fast,
                                   "How it moves at the start; a solitary wave moves by itself, and this is added."),
};
const ParamRow cloud_rows[] = {
    number<&CloudParams::density>("density", "", 0, 1e6, "How dense the smoke is."),
    number<&CloudParams::temperature>("temperature", "K", 0, 1e5, "That of the air around where not given."),
    vector<&CloudParams::velocity>("velocity", "m/s", -fast, fast, "How it moves at the start."),
};
const ParamRow solid_rows[] = {
    text<&SolidParams::name>("name", "What gauges and bodies.jsonl call it."),
    choice<&SolidParams::motion>("motion",
                                 "What moves it: keyframes of translate and rotate, or, as a rigid body, the water, gravity "
                                 "and what it touches; a \"float\" moves like one and does not disturb the water."),
    text<&SolidParams::path>("path", "The name of the [[path]] that it moves along, instead of keyframes of translate."),
    boolean<&SolidParams::heading>("heading",
                                   "Turn it so that its x axis points where its path leads: about y, in 2D about z."),
    number<&SolidParams::density>("density", "kg/m³", 1e-3, 1e6, "Of a body; either this or mass."),
    number<&SolidParams::mass>("mass", "kg", 1e-9, 1e12, "Of a body (kg/m in 2D); either this or density."),
    vector<&SolidParams::velocity>("velocity", "m/s", -fast, fast, "Of a body at the start."),
    row<&SolidParams::spin>(ParamKind::keyed_turn, "spin", "rad/s", -1e5, 1e5,
                            "Of a body at the start, about x, y and z; in 2D one number."),
    number<&SolidParams::friction>("friction", "", 0, 10,
                                   "Coulomb's coefficient where bodies touch it; that of a pair is the product's root."),
    number<&SolidParams::restitution>("restitution", "", 0, 1,
                                      "How much of the speed of an impact with a body comes back; that of a pair is the product's root."),
    boolean<&SolidParams::no_slip>("no_slip", "Viscous water sticks to it, as to a no-slip wall."),
    choice<&SolidParams::material>("material", "What it is made of in rendered pictures."),
    only_3d(vector<&SolidParams::color>("color", "", 0, 1,
                                        "Red, green and blue that it reflects; suits the material where not given.")),
    number<&SolidParams::roughness>("roughness", "", 0, 1, "Of plastic and metal: 0 is a mirror."),
    number<&SolidParams::temperature>("temperature", "K", 0, 1e5, "With smoke: what it warms or cools the air beside it to."),
};
const ParamRow source_rows[] = {
    vector<&SourceParams::velocity>("velocity", "m/s", -fast, fast,
                                    "How the water enters, as from a nozzle; either this or rate. With drops, how "
                                    "they start, at rest where not given."),
    number<&SourceParams::rate>("rate", "m³/s", 0, 1e9, "How much water enters (m²/s in 2D); either this or velocity."),
    number<&SourceParams::drops>("drops", "m",  1e-6, 1e3,
                                 "With rate: the water enters as drops of this diameter, each from a place of its own in the "
                                 "shape, such as rain from a flat box."),
    number<&SourceParams::density>("density", "", 0, 1e6,
                                   "How dense the smoke is in a source of smoke, at any time; as it comes where not given."),
    number<&SourceParams::temperature>("temperature", "K", 0, 1e5, "How warm a source of smoke is, likewise."),
};
const ParamRow sink_rows[] = {
    number<&SinkParams::rate>("rate", "m³/s", 0, 1e9,
                              "How much water leaves (m²/s in 2D); all that comes where not given."),
    number<&SinkParams::open>("open", "", 0, 1, "Whether it is open, from a half on, or closed; keyframes open and close it."),
};

const ParamRow wind_rows[] = {
    vector<&WindParams::velocity>("velocity", "m/s", -fast, fast,
                                  "How the air moves. Air at rest lets the water settle sooner."),
    number<&WindParams::shear>("shear", "1/s", -fast, fast,
                               "How much faster it blows, along its velocity, with each metre of height; it never "
                               "turns around."),
    number<&WindParams::shear_from>("shear_from", "m", -far, far, "The height at which it has its velocity."),
    number<&WindParams::alpha>("alpha", "", 0, 1,
                               "How much of the wind the velocity beyond the surface takes on: with 0 it is the "
                               "water's, with 1 the wind's."),
    number<&WindParams::fade>("fade", "m", 0, far,
                              "How far inside the edge of its shape it has its full strength; a cell where not given."),
};

const ParamRow force_rows[] = {
    required(choice<&ForceParams::kind>(
        "kind",
        "An acceleration that is the same everywhere; towards a point; around an axis; or a drag that brings what flows "
        "to a velocity.")),
    vector<&ForceParams::acceleration>("acceleration", "m/s²", -1e6, 1e6, "Of kind uniform."),
    number<&ForceParams::strength>("strength", "m/s²", -1e6, 1e6,
                                   "Of kind point, towards it, and away where negative; of kind vortex, around its axis, "
                                   "anticlockwise."),
    vector<&ForceParams::around>("around", "m", -far, far, "The point, or a point of the vortex's axis. A force of kind point with a shape and without this leads to the shape: "
                                 "water of its volume takes its form."),
    only_3d(vector<&ForceParams::turns_about>("turns_about", "", -far, far,
                                              "Direction of the vortex's axis, of any length.")),
    number<&ForceParams::falloff>("falloff", "m", 1e-6, far,
                                  "Of point and vortex: how far off half of the strength is left, strength / (1 + (r / "
                                  "falloff)²); it does not fall where not given."),
    vector<&ForceParams::velocity>("velocity", "m/s", -fast, fast, "Of kind drag: the velocity that it leads to."),
    number<&ForceParams::rate>("rate", "1/s", 0, 1e6,
                               "Of kind drag: how fast, du/dt = rate (velocity - u)."),
    number<&ForceParams::fade>("fade", "m", 0, far,
                               "How far inside the edge of its shape it has its full strength; a cell where not given."),
};

const ParamRow vortices_rows[] = {
    integer<&VorticesParams::count>("count", "", 0, 100000, "How many there are at the start, at random in the shape."),
    number<&VorticesParams::rate>("rate", "1/s", 0, 1e6, "How many start in the shape each second."),
    required(row<&VorticesParams::strength>(ParamKind::keyed_turn, "strength", "m³/s²", -1e9, 1e9,
                                   "What they turn about, and how hard, as they start; in 2D one number, in m²/s²: around a circle of the radius `size` the "
                                   "circulation grows by 0.61 of it a second.")),
    number<&VorticesParams::scatter>("scatter", "", 0, 1,
                                     "How much of its direction is at random: with 0 all turn alike, with 1 any way."),
    number<&VorticesParams::size>("size", "m", 1e-9, far, "The radius of the whirls; two cells where not given."),
    number<&VorticesParams::life>("life", "s", 1e-6, 1e9, "How long each of them lasts."),
    text<&VorticesParams::solid>("solid", "The name of a [[solid]] that the shape goes with, as it stands at the start: a propeller's boat."),
};

const ParamRow waves_rows[] = {
    required(choice<&WavesParams::kind>(
        "kind",
        "Waves of linear theory, or of Stokes' second order, that come from a side of the domain; or nothing, so that the "
        "side absorbs what comes to it. The zone before the side makes and absorbs them, over its whole width.")),
    choice<&WavesParams::side>("side", "The side that they come from, or that absorbs."),
    number<&WavesParams::length>("length", "m", 1e-6, far,
                                 "From crest to crest; either this or period. To absorb, of the longest that matter."),
    number<&WavesParams::period>("period", "s", 1e-6, 1e6, "From one crest to the next; either this or length."),
    number<&WavesParams::height>("height", "m", 0, far, "From trough to crest."),
    required(number<&WavesParams::level>("level", "m", -far, far, "The height at which the water is still.")),
    number<&WavesParams::bottom>("bottom", "m", -far, far, "The height of the bottom under the zone."),
    number<&WavesParams::zone>("zone", "m", 1e-6, far, "Width of the zone; two wavelengths where not given."),
    number<&WavesParams::ramp>("ramp", "s", 0, 1e6,
                               "How long the waves grow until they have their height; two periods where not given."),
};

const ParamRow surface_pressure_rows[] = {
    number<&SurfacePressureParams::pressure>("pressure", "Pa", -1e9, 1e9,
                                             "More than the air's, on the free surface; either this or wavelength."),
    number<&SurfacePressureParams::wavelength>(
        "wavelength", "m", 1e-6, far,
        "Of waves: the pressure is one itself that travels with them, and raises them from still water."),
    number<&SurfacePressureParams::wave_height>("wave_height", "m", 1e-9, far, "That the waves have in the end, from trough to crest."),
    number<&SurfacePressureParams::within>("within", "s", 1e-6, 1e9,
                                           "How long the pressure acts; three periods of the waves where not given."),
    vector<&SurfacePressureParams::direction>("direction", "", -far, far, "The way that the waves travel, of any length."),
    number<&SurfacePressureParams::level>("level", "m", -far, far, "The height at which the water is still, for waves."),
    number<&SurfacePressureParams::bottom>("bottom", "m", -far, far, "The height of the bottom, for waves."),
    number<&SurfacePressureParams::fade>("fade", "m", 0, far,
                                         "How far inside the edge of its shape it has its full strength; a cell where not "
                                         "given."),
};

const ParamRow path_rows[] = {
    required(text<&PathParams::name>("name", "What solids and the camera call it.")),
    required(vector<&PathParams::points>("points", "m", -far, far,
                                         "The points that it leads through, as keyframes, two at least: "
                                         "[{t = 0, v = [...]}, ...]. Between them it is smooth.")),
};

const ParamRow joint_rows[] = {
    required(choice<&JointParams::kind>("kind", "A hinge turns about an axis through a point; a slider moves along an axis and does not turn.")),
    required(text<&JointParams::body>("body", "The name of the body.")),
    text<&JointParams::to>("to", "The name of the body that it is joined to; the domain where not given."),
    vector<&JointParams::point>("point", "m", -far, far, "What a hinge turns about, as all stands at the start."),
    vector<&JointParams::along>("along", "", -far, far, "The axis of a hinge, z where not given; or the way that a slider leaves free."),
};

const ParamRow gauge_rows[] = {
    required(text<&GaugeParams::name>("name", "The column in gauges.csv; vectors have name_x, name_y and name_z.")),
    required(choice<&GaugeParams::kind>(
        "kind",
        "The surface's height over a point; the pressure or the velocity of the water at a point; what flows through a "
        "rectangle; the force or torque of the water on a solid; or the highest wet point.")),
    vector<&GaugeParams::point>("point", "m", -far, far,
                                "Where height (y does not count), pressure and velocity are read; what torque is "
                                "about, the origin where not given."),
    vector<&GaugeParams::min>("min", "m", -far, far,
                              "Lowest corner: of the rectangle of flux, which is flat along one axis; of where runup is "
                              "looked for, everywhere where not given."),
    vector<&GaugeParams::max>("max", "m", -far, far, "Highest corner."),
    text<&GaugeParams::solid>("solid", "The name of the solid, for force and torque."),
};

const ParamRow flow_rows[] = {
    choice<&FlowParams::field>("field",
                               "A rigid turn about the middle of the domain (about z in 3D); a vortex that winds up "
                               "what is in the box, and unwinds it; or a deformation, in 3D only, that draws it out "
                               "into a sheet and back."),
    number<&FlowParams::period>("period", "s", 1e-6, 1e6,
                                "How long one turn takes, or until a vortex or a deformation has brought all back."),
};

// A [[...]] section from the list that holds its entries; one with a `where` may have a shape.
template <auto Member>
Section list(const char* name, const char* meaning, std::span<const ParamRow> rows)
{
    using T = typename Of<Member>::T::value_type;
    Section s{name, meaning, rows, [](Params& p, size_t i) -> void* { return &(p.*Member)[i]; }};
    s.count = [](const Params& p) { return (p.*Member).size(); };
    s.add = [](Params& p) { (p.*Member).push_back(T{}); };
    if constexpr (std::is_base_of_v<ShapeParams, T>) {
        s.shape = [](Params& p, size_t i) -> ShapeParams* { return &(p.*Member)[i]; };
    } else if constexpr (requires(T entry) { entry.where; }) {
        s.shape = [](Params& p, size_t i) -> ShapeParams* { return (p.*Member)[i].where ? &*(p.*Member)[i].where : nullptr; };
        s.add_shape = [](Params& p) { (p.*Member).back().where.emplace(); };
    }
    s.waves = std::is_same_v<T, WaterParams>;
    return s;
}

// A [...] section that need not be there; one with a `where` may have a shape.
template <auto Member>
Section one(const char* name, const char* meaning, std::span<const ParamRow> rows)
{
    Section s{name, meaning, rows, [](Params& p, size_t) -> void* { return &*(p.*Member); }};
    s.count = [](const Params& p) -> size_t { return (p.*Member).has_value(); };
    s.add = [](Params& p) { (p.*Member).emplace(); };
    s.single = true;
    if constexpr (requires(Params & p) { (p.*Member)->where; }) {
        s.shape = [](Params& p, size_t) -> ShapeParams* { return (p.*Member)->where ? &*(p.*Member)->where : nullptr; };
        s.add_shape = [](Params& p) { (p.*Member)->where.emplace(); };
    }
    return s;
}

const Section all_sections[] = {
    {"", "Starts with tarn = 1, the version of the scene language.", top_rows,
     [](Params& p, size_t) -> void* { return &p; }},
    {"domain", "The box that is simulated.", domain_rows, [](Params& p, size_t) -> void* { return &p.domain; }},
    {"domain.walls", "What the sides of the box do; an open side lets water out.", wall_rows,
     [](Params& p, size_t) -> void* { return &p.domain.walls; }},
    one<&Params::motion>("domain.motion",
                         "How the domain moves through the world, with all that is in it; without this table it stands still. "
                         "Places and velocities of the scene are those that one sees who moves along; gravity, the camera and "
                         "lights are the world's.",
                         motion_rows),
    {"fluid", "What the water is like.", fluid_rows, [](Params& p, size_t) -> void* { return &p.fluid; }},
    {"air", "What the air is like, with phases = \"water-air\".", air_rows,
     [](Params& p, size_t) -> void* { return &p.air; }},
    {"smoke", "What smoke is like, with phases = \"smoke\".", smoke_rows,
     [](Params& p, size_t) -> void* { return &p.smoke; }},
    {"method", "How it is simulated.", method_rows, [](Params& p, size_t) -> void* { return &p.method; }},
    {"octree", "Cells of several sizes, with grid = \"octree\".", octree_rows,
     [](Params& p, size_t) -> void* { return &p.octree; }},
    {"tall", "Columns whose rows thin out below the surface, with grid = \"tall\".", tall_rows,
     [](Params& p, size_t) -> void* { return &p.tall; }},
    {"surface", "How the surface is kept.", surface_rows, [](Params& p, size_t) -> void* { return &p.surface; }},
    {"fragments", "Droplets and bubbles too small for the grid, with phases = \"water-air\" and surface.spray.",
     fragment_rows, [](Params& p, size_t) -> void* { return &p.droplets; }},
    {"whitewater", "Spray, bubbles and foam that `tarn whitewater` adds to a finished run.", whitewater_rows,
     [](Params& p, size_t) -> void* { return &p.whitewater; }},
    {"pressure", "How the pressure is solved.", pressure_rows, [](Params& p, size_t) -> void* { return &p.pressure; }},
    {"time", "Frames and steps.", time_rows, [](Params& p, size_t) -> void* { return &p.time; }},
    {"output", "What a run leaves.", output_rows, [](Params& p, size_t) -> void* { return &p.output; }},
    {"camera", "From where pictures are taken; 3D only.", camera_rows,
     [](Params& p, size_t) -> void* { return &p.camera; }},
    {"render", "How `tarn render` makes pictures; 3D only.", render_rows,
     [](Params& p, size_t) -> void* { return &p.render; }},
    list<&Params::light>("light", "What shines in rendered pictures; without any, a sky with its sun.", light_rows),
    list<&Params::refine>("refine", "Boxes of fine cells, on an octree.", refine_rows),
    list<&Params::water>("water", "What is wet at the start: shapes, each united with or cut from those before it.",
                         water_rows),
    list<&Params::cloud>("cloud", "Smoke that is there at the start; where shapes overlap the last one counts.", cloud_rows),
    list<&Params::solid>("solid", "What water flows around; fixed, moved by keyframes, or a rigid body.", solid_rows),
    list<&Params::source>("source", "Where water enters: all the time, or until keyframes end at zero.", source_rows),
    list<&Params::sink>("sink", "Where water leaves.", sink_rows),
    one<&Params::wind>("wind",
                       "Wind over the water; there is none without this table. With a shape it blows inside of it "
                       "only.",
                       wind_rows),
    list<&Params::force>("force", "Fields of force on what flows, added up. With a shape one acts inside of it only.", force_rows),
    list<&Params::vortices>("vortices",
                            "Vortex particles: they start in a shape, go with the flow and keep up whirls that the grid would smear.",
                            vortices_rows),
    list<&Params::waves>("waves", "Waves that come from a side of the domain, and sides that absorb them.", waves_rows),
    list<&Params::surface_pressure>("surface_pressure",
                                    "Pressures on the free surface, added up. With a shape one acts inside of it only.",
                                    surface_pressure_rows),
    list<&Params::path>("path", "Smooth ways that solids and the camera move along.", path_rows),
    list<&Params::joint>("joint", "Hinges and sliders that hold rigid bodies.", joint_rows),
    list<&Params::gauge>("gauge", "Instruments, read after every step into gauges.csv.", gauge_rows),
    one<&Params::flow>("flow",
                       "A velocity that carries the surface in place of the water's own motion, to try out methods for "
                       "the surface; without this table water moves by itself. Gravity, pressure, spray and volume "
                       "correction then have no part in it.",
                       flow_rows),
};

constexpr Reserved reserved_keys[] = {
    {"", "control", "use a [[force]], [wind] or a [[source]] to push the water"},
};

constexpr Synonym key_synonyms[] = {
    {"body", "", "solid", ", with motion = \"body\""},
    {"resolution", "domain", "cells"},
    {"res", "domain", "cells"},
    {"divisions", "domain", "cells"},
    {"boundaries", "domain", "walls"},
    {"fps", "time", "rate"},
    {"frame_rate", "time", "rate"},
    {"framerate", "time", "rate"},
    {"dt", "time", "max_step"},
    {"time_step", "time", "max_step"},
    {"time_scale", "time", "speed"},
    {"inflow", "", "source"},
    {"emitter", "", "source"},
    {"outflow", "", "sink"},
    {"drain", "", "sink"},
    {"obstacle", "", "solid"},
    {"collider", "", "solid"},
    {"collision", "", "solid"},
    {"liquid", "", "water"},
    {"puff", "", "cloud"},
    {"smoke_source", "", "source", ", with density or temperature"},
    {"simulation", "", "method"},
    {"heightfield", "", "solid", ", with shape = \"terrain\""},
    {"terrain", "", "solid", ", with shape = \"terrain\""},
};

constexpr Synonym word_synonyms[] = {
    {"heightfield", "", "terrain"}, {"heightmap", "", "terrain"}, {"cube", "", "box"},
    {"ball", "", "sphere"},         {"object", "", "mesh"},       {"two-phase", "", "water-air"},
    {"liquid", "", "water"},        {"free-slip", "", "slip"},    {"noslip", "", "no-slip"},
    {"outflow", "", "open"},        {"pls", "", "particle-level-set"},
};

}  // namespace

std::span<const Section> sections() { return all_sections; }
std::span<const ParamRow> shape_rows() { return shape_table; }
std::span<const Reserved> reserved() { return reserved_keys; }

const Synonym* synonym_of_key(std::string_view name)
{
    for (const Synonym& s : key_synonyms)
        if (s.theirs == name) return &s;
    return nullptr;
}

const char* synonym_of_word(std::span<const Word> words, std::string_view text)
{
    for (const Synonym& s : word_synonyms)
        for (const Word& w : words)
            if (s.theirs == text && w.text == std::string_view(s.ours)) return s.ours;
    return nullptr;
}
std::span<const Word> shape_words() { return shape_kind_words; }
std::span<const Word> ease_words() { return ease_kind_words; }

const char* word_of(std::span<const Word> words, int value)
{
    for (const Word& w : words)
        if (w.value == value) return w.text;
    return "";
}

namespace {

std::optional<std::string> number_problem(const ParamRow& row, double x)
{
    if (std::isfinite(x) && x >= row.lo && x <= row.hi) return {};
    const std::string unit = *row.unit ? std::string(" ") + row.unit : "";
    return "must lie between " + number_text(row.lo) + " and " + number_text(row.hi) + unit + ", found " +
           number_text(x);
}

std::optional<std::string> vector_problem(const ParamRow& row, Vec3 v, int dimension)
{
    for (int a = 0; a < dimension; ++a)
        if (auto problem = number_problem(row, v[a])) return problem;
    return {};
}

template <class T, class Check>
std::optional<std::string> keyed_problem(const Keyed<T>& keyed, double until, Check check)
{
    if (keyed.keys.empty()) return "has no keyframes";
    constexpr int tries = 1000;
    for (int n = 0; n <= tries && !keyed.formulas.empty(); ++n) {
        const double t = until * n / tries;
        if (auto problem = check(keyed.at(t))) return *problem + " at t = " + number_text(t);
    }
    for (size_t i = 0; i < keyed.keys.size(); ++i) {
        const auto& key = keyed.keys[i];
        if (!std::isfinite(key.t) || std::fabs(key.t) > 1e9)
            return "keyframe " + std::to_string(i) + ": t must lie between -1e9 and 1e9 s, found " + number_text(key.t);
        if (i > 0 && !(key.t > keyed.keys[i - 1].t))
            return "keyframe " + std::to_string(i) + ": t = " + number_text(key.t) +
                   " does not come after t = " + number_text(keyed.keys[i - 1].t) + "; sort the keyframes by time";
        if (auto problem = check(key.v)) return problem;
    }
    return {};
}

}  // namespace

std::optional<std::string> range_problem(const ParamRow& row, const ParamValue& value, int dimension, double until)
{
    switch (row.kind) {
        case ParamKind::number:
            return number_problem(row, std::get<double>(value));
        case ParamKind::integer:
            return number_problem(row, std::get<int>(value));
        case ParamKind::vector:
            return vector_problem(row, std::get<Vec3>(value), dimension);
        case ParamKind::numbers: {
            const auto& list = std::get<std::vector<double>>(value);
            if (list.size() != 2 && list.size() != 3)
                return "must be two or three numbers, found " + std::to_string(list.size());
            for (const double x : list)
                if (auto problem = number_problem(row, x)) return problem;
            return {};
        }
        case ParamKind::keyed_number:
            return keyed_problem(std::get<Keyed<double>>(value), until, [&](double x) { return number_problem(row, x); });
        case ParamKind::keyed_vector:
        case ParamKind::keyed_turn:
            return keyed_problem(std::get<Keyed<Vec3>>(value), until, [&](Vec3 v) {
                return vector_problem(row, v, row.kind == ParamKind::keyed_turn ? 3 : dimension);
            });
        case ParamKind::choice:
            for (const Word& w : row.words)
                if (w.value == std::get<int>(value) && !w.available())
                    return quoted(w.text) + " is not built yet; use " + w.instead;
            return {};
        case ParamKind::boolean:
        case ParamKind::text:
            return {};
    }
    return {};
}

std::string number_text(double value)
{
    if (value == 0) return "0";
    char text[40];
    if (std::fabs(value) < 1e7 && value == std::floor(value)) {
        std::snprintf(text, sizeof text, "%.0f", value);
        return text;
    }
    // Fifteen digits give back any decimal of so many, without the zeros behind it; few digits keep 1e+09 short.
    for (const int digits : {6, 15, 16, 17}) {
        std::snprintf(text, sizeof text, "%.*g", digits, value);
        if (std::strtod(text, nullptr) == value) break;
    }
    return text;
}

std::string quoted(const std::string& text)
{
    std::string r = "\"";
    for (const char c : text) {
        const unsigned char u = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            r += '\\';
            r += c;
        } else if (u < 0x20 || u == 0x7f) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04X", u);
            r += code;
        } else {
            r += c;
        }
    }
    return r + '"';
}

namespace {

std::string vector_text(Vec3 v, int dimension)
{
    std::string r = "[";
    for (int a = 0; a < dimension; ++a) r += (a ? ", " : "") + number_text(v[a]);
    return r + "]";
}

std::string formula_text(const Formula& formula)
{
    char* end = nullptr;
    const double plain = std::strtod(formula.text().c_str(), &end);
    return *end ? quoted(formula.text()) : number_text(plain);
}

// `first` and `count`: the components that are written, in brackets where there are several.
template <class T, class Text>
std::string keyed_text(const Keyed<T>& keyed, size_t first, size_t count, Text text)
{
    if (!keyed.formulas.empty()) {
        std::string r;
        for (size_t i = first; i < first + count && i < keyed.formulas.size(); ++i)
            r += (r.empty() ? "" : ", ") + formula_text(keyed.formulas[i]);
        return count > 1 ? "[" + r + "]" : r;
    }
    if (!keyed.varies()) return text(keyed.keys.front().v);
    std::string r = "[";
    for (const auto& key : keyed.keys) {
        r += (r.size() > 1 ? ", " : "") + std::string("{t = ") + number_text(key.t) + ", v = " + text(key.v);
        if (key.ease != Ease::linear) r += ", ease = " + quoted(word_of(ease_words(), static_cast<int>(key.ease)));
        r += "}";
    }
    return r + "]";
}

}  // namespace

std::string value_text(const ParamRow& row, const ParamValue& value, int dimension)
{
    switch (row.kind) {
        case ParamKind::number:
            return number_text(std::get<double>(value));
        case ParamKind::integer:
            return std::to_string(std::get<int>(value));
        case ParamKind::boolean:
            return std::get<bool>(value) ? "true" : "false";
        case ParamKind::text:
            return quoted(std::get<std::string>(value));
        case ParamKind::choice:
            return quoted(word_of(row.words, std::get<int>(value)));
        case ParamKind::vector:
            return vector_text(std::get<Vec3>(value), dimension);
        case ParamKind::numbers: {
            std::string r = "[";
            for (const double x : std::get<std::vector<double>>(value))
                r += (r.size() > 1 ? ", " : "") + number_text(x);
            return r + "]";
        }
        case ParamKind::keyed_number:
            return keyed_text(std::get<Keyed<double>>(value), 0, 1, number_text);
        case ParamKind::keyed_vector:
            return keyed_text(std::get<Keyed<Vec3>>(value), 0, static_cast<size_t>(dimension),
                              [&](Vec3 v) { return vector_text(v, dimension); });
        case ParamKind::keyed_turn:
            return keyed_text(std::get<Keyed<Vec3>>(value), dimension == 2 ? 2 : 0, dimension == 2 ? 1 : 3,
                              [&](Vec3 v) { return dimension == 2 ? number_text(v[2]) : vector_text(v, 3); });
    }
    return "";
}

}  // namespace tarn
