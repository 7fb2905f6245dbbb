#pragma once
// Spray: drops of water too small for the grid.   [IGLF06] §6, there called removed negative particles
//
// A particle of water that has escaped so far that the grid will not find it again leaves the particle level set and
// flies on by itself. It carries volume, which the water it came from has lost, and gives it back where it lands. Along
// walls it slides.
//
// Landing gives back momentum and volume apart. Momentum goes to the faces around the place of impact at once, as the
// mean by mass of what is there and of what arrives,
//
//   u_f <- (m_f u_f + sum_d w_df m_d u_d) / (m_f + sum_d w_df m_d),
//
// with w the weights of multilinear interpolation and m_f the mass of the water around the face: no component gets
// larger than the largest of all that are mixed, whatever the step. Volume goes to the target volume of the connected
// component that the drop lands in, and comes back to the grid by the volume correction, with the velocity of the water
// there, so that in the end the momentum is that of both.
//
// Positions are counted in cells from the first cell's centre, volumes in cells.

#include <vector>

#include "tarn/bodies/solids.h"
#include "tarn/pressure/boundary.h"
#include "tarn/surface/ledger.h"
#include "tarn/surface/particles.h"

namespace tarn {

template <int D>
struct SprayView {
    float *x[D], *u[D];  // velocity in m/s
    float* volume;       // 0: there is none any more
    float* age;          // s
};

template <int D>
class Spray : public Columns<2 * D + 2> {
public:
    using Columns<2 * D + 2>::Columns;
    SprayView<D> view()
    {
        SprayView<D> v;
        for (int a = 0; a < D; ++a) v.x[a] = this->column(a), v.u[a] = this->column(D + a);
        v.volume = this->column(2 * D);
        v.age = this->column(2 * D + 1);
        return v;
    }
};

template <int D>
struct SprayRoom {
    Spray<D> spray;
    Memory<int> starts, fates;
};

// What became of spray that flies no more, in the order of the list.
template <int D>
struct Landing {
    int body;  // of the ledger, counted from 1; 0: it left through an open side
    Vec<D, float> x, u;
    double volume;
};

// The volume of all spray, in cells.
template <int D>
double volume(const Spray<D>& spray);

// Turns lost particles into spray, each with the given volume; none where that is 0.
template <int D>
void take_up(Spray<D>& spray, Particles<D>& particles, const LostParticles& lost, const FaceField<D>& velocity,
             const Sheets<D>& sheets, double volume_each, SprayRoom<D>& room);

// Lets spray fly for dt. What lands in water, or leaves, is taken out of the list.
template <int D>
std::vector<Landing<D>> fly(Spray<D>& spray, const Field<D>& phi, const Ledger<D>& ledger, const Solids<D>& solids,
                            const Boundary<D>& boundary, Vec3 gravity, double dt, SprayRoom<D>& room);

// Gives the momentum of what has landed to the faces around, those with water and not closed by `boundary`.
template <int D>
void add_momentum(FaceField<D>& velocity, const std::vector<Landing<D>>& landings, const Field<D>& phi,
                  const Boundary<D>& boundary);

}  // namespace tarn
