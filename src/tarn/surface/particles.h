#pragma once
// The particles of the particle level set.   [EMF02] §3.2, and Enright, Fedkiw, Ferziger & Mitchell 2002 for details
//
// Massless markers of both signs near the surface. They are carried by the flow more exactly than phi is; one that has
// got to the wrong side of the surface by more than its radius has escaped, and shows where phi is wrong: there phi is
// rebuilt from the sphere around it,
//
//   phi_p(x) = s_p (r_p - |x - x_p|)      (3).
//
// Positions and radii are counted in cells; the sign of a radius is the particle's side, as phi's: negative in water.
// Values are held by kind (all x, all y, ...), in the order of tiles and their cells when they were last seeded.
// Particles never meet each other, and what they do to phi does not depend on their order.

#include "tarn/advect/near_contact.h"
#include "tarn/advect/trace.h"
#include "tarn/backend/parallel.h"
#include "tarn/field/columns.h"
#include "tarn/field/field.h"

namespace tarn {

inline constexpr float least_radius = 0.1f, most_radius = 0.5f;  // (2)
inline constexpr float particle_band = 3;                        // on each side of the surface

template <int D>
struct ParticleView {
    float* x[D];
    float* radius;  // 0: there is none any more

    TARN_HD Vec<D, float> at(int i) const
    {
        Vec<D, float> p;
        for (int a = 0; a < D; ++a) p[a] = x[a][i];
        return p;
    }
    TARN_HD void put(int i, Vec<D, float> p) const
    {
        for (int a = 0; a < D; ++a) x[a][i] = p[a];
    }
};

template <int D>
class Particles : public Columns<D + 1> {
public:
    using Columns<D + 1>::Columns;
    ParticleView<D> view()
    {
        ParticleView<D> v;
        for (int a = 0; a < D; ++a) v.x[a] = this->column(a);
        v.radius = this->column(D);
        return v;
    }
};

// Where particles are put.
struct Seeding {
    int per_cell = 16;
    bool outside = true;  // in air, too; without, this is the one-sided hybrid of Foster & Fedkiw 2001
    bool even = false;    // as many in every cell of the band
};

// What seeding works in, kept from one to the next.
template <int D>
struct SeedingWorkspace {
    Particles<D> particles;
    Memory<int> cell, order, begin, end, first;
    Memory<float> far;
};

// Moves the particles with the flow around the surface of phi, by RK2, or by forward Euler as in [EMF02] §3.2.2. They stay on
// their sides of thin walls.
template <int D>
void advect(Particles<D>& particles, const FaceField<D>& velocity, const Field<D>& phi, double dt,
            const Sides<D>& sides = {}, const NearContactAir<D>& air = {}, bool euler = false);

// Moves the particles along the normals of a surface that has moved from `before` to phi by little, so that each is as far
// from it as it was.
template <int D>
void follow_surface(Particles<D>& particles, const Field<D>& before, const Field<D>& phi, const ThinWalls<D>& thin_walls = {});

// Removes particles that have come to an open side.
template <int D>
void let_out(Particles<D>& particles, Cell<D> cells, const bool (&open)[D][2]);

// Removes particles on the wrong side of the surface from cells with this label.
template <int D>
void remove_strays(Particles<D>& particles, const Field<D>& phi, const Field<D, int>& labels, int label);

// Removes particles of air from gaps that close, unless it flows. Nothing holds other air back: it would leave at the
// sides, faster than any water, but particles cannot, and would keep the gap open until they had eaten into the water.
template <int D>
void squeeze_out(Particles<D>& particles, const Field<D>& phi, const FaceField<D>& velocity, double dt,
                 const ThinWalls<D>& thin_walls = {}, const NearContactAir<D>& air = {});

// Particles of water so far out in the air that the surface will not come back to them, in ascending order.
struct LostParticles {
    Memory<int> list;
    int count = 0;
};
inline constexpr float lost_distance = 1.5f;

// Which escaped particles count. [EMF02] treats both sides alike. In Foster & Fedkiw 2001 those do where the surface is
// curved: there a level set on a coarse grid is wrong, where it is smooth it is right.
struct Escape {
    bool alike = false;         // without, air that is deep in the water is forgotten
    float least_curvature = 0;  // 1/cells
};

// Escaped particles rebuild phi on the tiles.   [EMF02] §3.2.3
// `lost` is given where phi is not changed any more: then radii are set, too (2), and lost particles are found.
// Particles neither see nor change what lies behind `thin_walls`.
template <int D>
void correct(Field<D>& phi, Particles<D>& particles, const Tiles<D>& tiles, LostParticles* lost,
             Field<D>* const scratch[2], const ThinWalls<D>& thin_walls = {}, const Escape& escape = {});

// Keeps about as many particles as wanted in every cell near the surface: those too far or too many go, where there are
// too few new ones come. Escaped ones stay.   [EMF02] §3.2.5
// Tiles with `band` in the map hold every cell within the particles' band. `solid` is a distance at nodes, or null;
// `time` is any number that differs from one seeding to the next.
template <int D>
void reseed(Particles<D>& particles, const Field<D>& phi, const TileMap<D>& map, uint8_t band, const Field<D>* solid,
            const Seeding& seeding, long time, SeedingWorkspace<D>& workspace, const ThinWalls<D>& thin_walls = {});

}  // namespace tarn
