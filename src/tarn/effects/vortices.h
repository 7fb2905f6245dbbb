#pragma once
// Vortex particles: spots of vorticity that keep up the whirls a grid would smear.   [IGLF06] §6, after Selle, Rasmussen, Fedkiw 2005
// What they do is in effects/vortex_forces.h.

#include <vector>

#include "tarn/base/vec.h"
#include "tarn/field/columns.h"

namespace tarn {

template <int D>
struct VortexView {
    float *x[D], *strength[3], *radius, *left, *first;

    TARN_HD Vec<D, float> at(int i) const
    {
        Vec<D, float> p;
        for (int a = 0; a < D; ++a) p[a] = x[a][i];
        return p;
    }
    TARN_HD Vec3f turns(int i) const { return {strength[0][i], strength[1][i], strength[2][i]}; }
};

// Positions and radii in cells, as those of Particles; strength in m^3/s^2 (along z in 2D, m^2/s^2); the time that is left, in s, less than zero
// where it is over; the strength that it had at first.
template <int D>
class VortexParticles : public Columns<D + 6> {
public:
    using Columns<D + 6>::Columns;
    VortexView<D> view()
    {
        VortexView<D> v;
        for (int a = 0; a < D; ++a) v.x[a] = this->column(a);
        for (int a = 0; a < 3; ++a) v.strength[a] = this->column(D + a);
        v.radius = this->column(D + 3);
        v.left = this->column(D + 4);
        v.first = this->column(D + 5);
        return v;
    }
};

template <int D>
struct Vortices {
    bool on = false;  // whether the scene has any

    // A checkpoint.
    VortexParticles<D> particles{Where::program};
    std::vector<double> started;  // of each [[vortices]], how many have started so far, with the part of the next
};

}  // namespace tarn
