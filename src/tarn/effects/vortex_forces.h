#pragma once
// What vortex particles do and what becomes of them.   [IGLF06] §6, after Selle, Rasmussen, Fedkiw 2005
//
//   dx_p/dt = u(x_p),   d(s_p)/dt = (s_p . grad) u,
//   f(x) = sum_p r xi_p (N_p x s_p),   N_p = (x_p - x) / |x_p - x|,   xi_p = exp(-|x - x_p|^2 / 2 r^2) / ((2 pi)^(D/2) r^D).
//
// A particle turns what is around it about s_p, the paper's epsilon times omega_p, of which the product alone acts. In 2D the circulation around a
// circle of radius R about a particle grows by s (R / r) exp(-R^2 / 2 r^2) a second, at most by 0.61 s.
//
// Deviation: the length that the paper multiplies with is the cell's; here it is the particle's radius r, so that the same particles do
// the same on any grid that resolves them.
// Deviation: on the grid the forces of a particle do not add up to zero exactly, less so beside a surface or a wall. What is left is taken off
// with the weights xi_p: particles turn the fluid and do not push it.
// Deviation: by stretching a particle comes to `most_stretch` times the strength that it started with and not further, a heuristic: a
// grid's flow stretches without end what viscosity would diffuse.

#include <cmath>
#include <functional>
#include <vector>

#include "tarn/effects/vortices.h"
#include "tarn/field/field.h"
#include "tarn/grid/tiles.h"

namespace tarn {

inline constexpr float most_stretch = 4;
// A particle acts up to so many of its radii; there its force is 2 % of the most that it is.
inline constexpr float vortex_reach = 3;

// The velocity at a position in cells, for the program.
template <int D>
using VelocityAt = std::function<Vec<D, float>(Vec<D, float>)>;

// Particles go with the flow for dt and are stretched by it. Those end whose time is over, and those for which `out` is true where they have
// come to.
template <int D>
void carry(VortexParticles<D>& particles, const Grid<D>& grid, const VelocityAt<D>& velocity,
           const std::function<bool(Vec<D, float>)>& out, double dt);

template <int D>
struct Vortex {
    Vec<D, float> x;
    Vec3f strength;
    float radius;

    // Where `away` is the way from it in cells: xi, in 1/m^D, and r (N x s).
    float weight(Vec<D, float> away, float h) const
    {
        const float squared = dot(away, away), reach = vortex_reach * radius, r = radius * h;
        if (!(squared < reach * reach)) return 0;
        const float two_pi = 6.2831853f;
        return std::exp(-0.5f * squared / (radius * radius)) / (D == 2 ? two_pi * r * r : two_pi * std::sqrt(two_pi) * r * r * r);
    }
    Vec3f turn(Vec<D, float> away, float h) const
    {
        Vec3f n;
        for (int a = 0; a < D; ++a) n[a] = -away[a];
        const float far = length(n);
        return far > 0 ? (radius * h / far) * cross(n, strength) : Vec3f{};
    }
};

// The forces of all.
template <int D>
class VortexForces {
public:
    VortexForces(const VortexParticles<D>& particles, const Grid<D>& grid);

    // u += dt f on the faces of the tiles beside which phi is negative.
    void push(FaceField<D>& velocity, const Field<D>& phi, const Tiles<D>& tiles, double dt) const;

    // For the program: f along an axis at a position in cells, without what is taken off on the grid.
    float at(Vec<D, float> x, int axis) const;

private:
    Grid<D> grid_;
    TileMap<D> map_;
    std::vector<Vortex<D>> vortices_;
    std::vector<int> start_, list_;  // of each tile, those that reach it
};

// The most that one of them accelerates anything, m/s^2.
template <int D>
double strongest(const VortexParticles<D>& particles, double h);

}  // namespace tarn
