#pragma once
// Density and viscosity where water and air meet, and the pull of the surface between them.   [SSK05] §4.2, §5.1
//
// Smeared: both change over 1.5 cells on either side of the surface, with the Heaviside function (15); the surface
// tension is the body force of Brackbill et al. (7)-(9) in that layer. Sharp (ghost fluid, Kang, Fedkiw & Liu 2000): a
// face has the density of the mixture that the way between its two cells crosses, and the pressure jumps by
// sigma kappa from one cell to the next.
//
// Deviation: the force is sigma kappa grad H / rho with H differenced between the same two cells as the pressure,
// rather than sigma kappa delta grad phi, so that a round drop is at rest (Francois et al. 2006); and sigma is in N/m.
//
// Where a solid cuts a face, water and air are beside the solid, not inside it, where phi only goes on: the face has the density of
// what is at the middle of its open part. Else a film of water along a wall would be as light as air, and the pressure of what runs
// against it would squeeze it out at the speed of air.

#include <numbers>

#include "tarn/backend/parallel.h"
#include "tarn/field/field.h"
#include "tarn/params/params.h"
#include "tarn/pressure/boundary.h"

namespace tarn {

inline constexpr float smearing = 1.5f;  // epsilon, in cells

// H_epsilon (15) of water: 1 in water, 0 in air, for phi that is negative in water. The sine, of which
// sin(pi x) / (2 pi) = x (1 - x^2) P(x^2), is a polynomial fitted to 5e-8, so that many are found at once.
TARN_HD inline float smeared_step(float phi, float epsilon)
{
    const float t = -phi / epsilon, x = t < -1 ? -1.0f : (t > 1 ? 1.0f : t), y = x * x;
    const float p = 0.49999988f + y * (-0.32246093f + y * (0.083354956f + y * (-0.01183206f + y * 0.00093827299f)));
    return 0.5f + x * (0.5f + (1 - y) * p);
}
// The share of water on the way between two cells: all, none, or up to where the surface crosses it.
TARN_HD inline float wet_share(float lower, float upper)
{
    if ((lower < 0) == (upper < 0)) return lower < 0 ? 1.0f : 0.0f;
    const float wet = lower < 0 ? lower : upper, dry = lower < 0 ? upper : lower;
    return wet / (wet - dry);
}

// Faces that solids cut, and which way what rests there weighs.
template <int D>
struct CutFaces {
    FaceView<D, const float> open;   // data null: there are no solids
    View<D, const float> distance;   // from solids, at nodes
    Vec<D, float> down;

    CutFaces() = default;
    CutFaces(const Boundary<D>& boundary, Vec<D> gravity)
    {
        if (!boundary.solids) return;
        open = boundary.open;
        distance = boundary.solid_distance;
        const double g = length(gravity);
        if (g > 0) down = ((1 / g) * gravity).template as<float>();
    }
    TARN_HD bool any() const { return open.axis[0].data != nullptr; }

    // From the middle of a face to that of its open part, in cells: along the face, away from the solid. Where gravity has a part across
    // the face, along level surfaces alone, as a level pool is at rest only where the densities of faces follow from their height.
    TARN_HD Vec<D, float> shift(Cell<D> c, int axis) const
    {
        Vec<D, float> s;
        const float part = open[axis](c);
        if (!(part > 0 && part < 1)) return s;
        const int i = distance.index(c);
        float least = distance[i], most = least, steepest = 0;
        for (int corner = 1; corner < (1 << D); ++corner) {
            if (corner >> axis & 1) continue;
            int j = i;
            for (int b = 0; b < D; ++b)
                if (corner >> b & 1) j += distance.next(b);
            least = distance[j] < least ? distance[j] : least;
            most = distance[j] > most ? distance[j] : most;
        }
        if (!(least < 0 && most > 0)) return s;  // a thin wall
        for (int corner = 0; corner < (1 << D); ++corner) {
            if (corner >> axis & 1) continue;
            int j = i;
            for (int b = 0; b < D; ++b)
                if (corner >> b & 1) j += distance.next(b);
            for (int b = 0; b < D; ++b)
                if (b != axis) s[b] += corner >> b & 1 ? distance[j] : -distance[j];
        }
        for (int b = 0; b < D; ++b) steepest = std::fabs(s[b]) > steepest ? std::fabs(s[b]) : steepest;
        if (!(steepest > 0)) return s;
        s = (0.5f * (1 - part) / steepest) * s;
        return std::fabs(down[axis]) > 1e-3f ? s - dot(s, down) * down : s;
    }
};

// Phi on both sides of a face, beside the middle of its open part. Beyond the grid's ends it goes on as it is there.
struct FaceSides {
    float lower, upper;
};
template <int D>
TARN_HD inline FaceSides phi_beside(const View<D, const float>& phi, const CutFaces<D>& cut, Cell<D> cells, Cell<D> face, int axis)
{
    const int upper = phi.index(face), lower = upper - phi.next(axis);
    const float below = phi[lower], above = phi[upper];
    FaceSides beside{face[axis] > 0 ? below : above, face[axis] < cells[axis] ? above : below};
    if (!cut.any() || face[axis] == 0 || face[axis] == cells[axis]) return beside;
    const Vec<D, float> s = cut.shift(face, axis);
    float more = 0;
    for (int b = 0; b < D; ++b) {
        if (s[b] == 0) continue;
        const int back = face[b] > 0 ? phi.next(b) : 0, on = face[b] + 1 < cells[b] ? phi.next(b) : 0;
        const float rise = phi[lower + on] - phi[lower - back] + phi[upper + on] - phi[upper - back];
        more += s[b] * rise * (back && on ? 0.25f : 0.5f);
    }
    beside.lower += more;
    beside.upper += more;
    return beside;
}

// The water's share of what is at a face.
TARN_HD inline float water_share(FaceSides beside, bool sharp, float epsilon)
{
    return sharp ? wet_share(beside.lower, beside.upper) : smeared_step(0.5f * (beside.lower + beside.upper), epsilon);
}

// Density on every face.
template <int D>
void find_density(FaceField<D>& density, const Field<D>& phi, const Params& params, const CutFaces<D>& cut, const Tiles<D>& tiles);

// Dynamic viscosity at cells.
template <int D>
void find_viscosity(Field<D>& mu, const Field<D>& phi, const Params& params, const Tiles<D>& tiles);

// Makes curvatures at cells, which are those of phi there, that of the surface nearby, and takes means over neighbours
// within `reach` of the surface: what one cell sees too curved, and the next too flat, makes currents. Its own counts
// as much as twice all of theirs, as means weaken short waves.
template <int D>
void average_curvature(Field<D>& kappa, const Field<D>& phi, float reach, const Tiles<D>& tiles, Field<D>& scratch);

// Adds the pull of the surface for dt.
template <int D>
void add_surface_tension(FaceField<D>& velocity, const Field<D>& phi, const Field<D>& kappa,
                         const FaceField<D>& density, const Params& params, const Tiles<D>& tiles, double dt);

}  // namespace tarn
