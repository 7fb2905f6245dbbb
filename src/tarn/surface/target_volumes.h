#pragma once
// The volume of every connected body of water: what it should be, and what it is.
//
// Bodies are found anew in every step. What a body should hold goes with its water: each wet cell looks where it came
// from, and the cells that came from one body share what that body should hold, by their volume. So bodies that join
// add up, and one that parts divides. What belongs to none goes to all, by their volume.

#include <vector>

#include "tarn/advect/trace.h"
#include "tarn/backend/atomic.h"
#include "tarn/surface/redistance.h"

namespace tarn {

template <int D>
struct TargetVolumes {
    // A checkpoint. Volumes are in m³ (m² in 2D).
    std::vector<double> expected;  // what each body should hold
    double elsewhere = 0;          // what belongs to none, or was taken from none
    Field<D, int> body;            // a wet cell's body, counted from 1; 0 where there is none

    std::vector<double> actual;  // what each body held when bodies were last found
    Field<D, int> before;        // where they were a step before that
    // Workspace.
    Memory<int> roots;
    Field<D, int> moves_with;  // the component that a cell moves with where volumes are corrected

    TargetVolumes() = default;
    explicit TargetVolumes(const Grid<D>& grid) : body(grid), before(grid), moves_with(grid) {}
};

// Sums of whole numbers do not depend on their order. The sum of each body is kept in several places, which cells share
// by their tiles, so that they do not wait for each other.
class SumsByComponent {
public:
    explicit SumsByComponent(size_t bodies) : bodies_(bodies), sums_(stripes * bodies) {}

    struct Adder {
        long long* sums;
        int bodies;

        template <int D>
        TARN_KERNEL void operator()(Cell<D> c, int body, double cells) const
        {
            int stripe = 0;
            for (int a = 0; a < D; ++a) stripe = 5 * stripe + c[a] / tile_size;
            atomic_add(sums + (stripe & (stripes - 1)) * bodies + body - 1, static_cast<long long>(cells * scale));
        }
    };
    Adder adder() { return {sums_.data(), static_cast<int>(bodies_)}; }
    // In cells.
    std::vector<double> result() const
    {
        std::vector<long long> sums(sums_.size());
        backend::copy(sums.data(), sums_.data(), sums.size() * sizeof(long long));
        std::vector<double> r(bodies_);
        for (size_t body = 0; body < bodies_; ++body) {
            long long sum = 0;
            for (size_t s = 0; s < stripes; ++s) sum += sums[s * bodies_ + body];
            r[body] = static_cast<double>(sum) / scale;
        }
        return r;
    }

private:
    static constexpr int stripes = 16;
    static constexpr double scale = 0x1p32;

    size_t bodies_;
    Memory<long long> sums_;
};

// Numbers the bodies of phi on the tiles, and measures them. `closed` is null where there are no solids. A tile of the
// `deep` ones is water throughout, and so is what lies beside it: it counts as one piece. So does an `inner` one, beside
// which are such alone and of which hardly a cell is looked at: it is given as its first cell.
template <int D>
void find_bodies(TargetVolumes<D>& targets, const Field<D>& phi, const ClosedFaces<D>* closed, const Tiles<D>& shallow,
                 const Tiles<D>& deep, const Tiles<D>& inner = {});

// Finds the bodies of a phi that `velocity` has moved for dt, by no more than `reach` cells, and hands on to them what
// the old ones should hold. What an old one should hold that has left nothing behind goes to all, or is told in `gone`,
// for each of the old ones.
template <int D>
void carry(TargetVolumes<D>& targets, const Field<D>& phi, const FaceField<D>& velocity, const ClosedFaces<D>* closed,
           const Tiles<D>& shallow, const Tiles<D>& deep, double dt, double reach, const Sides<D>& sides = {},
           std::vector<double>* gone = nullptr, const Tiles<D>& inner = {});

// Adds to what bodies should hold, by their volume; or takes from it, by what they should hold.
template <int D>
void share_out(TargetVolumes<D>& targets, double volume);

}  // namespace tarn
