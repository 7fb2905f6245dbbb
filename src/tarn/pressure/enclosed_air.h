#pragma once
// Enclosed air of any size, without air being simulated: constraint bubbles (Goldade, Aanjaneya and Batty 2020).
//
// Air regions are the connected components of dry cells. One that reaches an open side of the domain is the atmosphere,
// p = 0; in a chamber without open sides the largest one is. Every other region is enclosed: its air has no mass, one
// pressure, and a volume that the flow keeps, so that its pressure X_k is an unknown which all the faces of its surface
// share (pressure/regions.h), and its row says
//
//   sum over faces of its surface of  open u . out  +  what solids and inlets sweep  =  dV_k / dt
//
// with dV_k / dt = (V_k0 - V_k) / tau while phi shows less or more air than the region's target V_k0, at most a quarter
// of a cell of its surface within tau. Targets go with the air: a region that parts divides its target among the cells
// that came from it, regions that join add theirs up, and air from the atmosphere counts as it is. A region that opened
// where there was water, as behind water that separates from a wall, is a void without air: p = 0 there, too.

#include <vector>

#include "tarn/pressure/boundary.h"
#include "tarn/pressure/regions.h"
#include "tarn/pressure/wall_gaps.h"
#include "tarn/surface/measure.h"

namespace tarn {

// The cells of enclosed regions in ascending order, the region that each is in, counted from 1 and negative for voids,
// and its share of the region's target, in cells.
struct AirRegions {
    std::vector<int> cells, regions;
    std::vector<float> volumes;
};

template <int D>
class EnclosedAir {
public:
    // Where the air is that is enclosed now, as of the newest find() or of a state that was loaded.
    void mark(const AirRegions& held, const Grid<D>& grid);
    bool any_marked() const { return mark_.size() > 0; }
    // A cell's enclosed region, counted from 1, negative for voids, or 0, as marked.
    View<D, const int> marked() const { return std::as_const(mark_).view(); }

    struct Now {
        const Field<D>& phi;
        const WetPart<D>& wet;
        const FaceField<D>& velocity;     // that has moved phi
        const Field<D, int>& wet_before;  // positive where there was water before
        const Boundary<D>& boundary;
        const TileMap<D>& map;  // tiles with water or its surface near have the bit `active`, all but those without air
        uint8_t active, mixed;  // near them the bit `mixed`
        double dt;
    };
    // Finds the enclosed regions after phi has moved, and their targets.
    void find(AirRegions& held, const Now& now);
    bool any() const { return count_ > 0; }

    // The regions as unknowns of a solve for x = p dt / (rho h): their faces to the water with `velocity`, the surface
    // tension's jump, and dV / dt with `rate`, 1 / tau (0: volumes are not corrected). Null where there are none.
    const Regions<D>* couple(const Field<D>& phi, const FaceField<D>& velocity, const Boundary<D>& boundary,
                          const Field<D>* kappa, float tension, double rate);
    // After a solve: the pressures X. Returns whether voids are part of another region from now on, so that the solve is to be done again.
    [[nodiscard]] bool find_pressures(const Field<D>& x);
    // u = u* - grad x at the regions' faces.
    void apply(FaceField<D>& velocity, const Field<D>& x) const;
    // The lowest X, or 0 where none is lower.
    double lowest() const { return lowest_; }

    // Parts of find(). A GPU's compiler makes no kernels in private functions.
    std::vector<int> find_roots(const Now& now);
    void find_chambers(const Now& now);
    std::vector<int> number_enclosed(const std::vector<int>& roots, const Now& now);
    void list_cells(const Now& now);
    void carry_targets(AirRegions& held, const Now& now);
    std::vector<double> swept(const Boundary<D>& boundary);

private:
    int count_ = 0;                 // of enclosed regions
    std::vector<int> cells_;        // theirs, ascending
    std::vector<int> region_;       // of each cell, from 1
    std::vector<double> volume_;    // of each region, in cells, as phi shows it
    std::vector<double> target_;    // and as it should be
    std::vector<bool> is_void_;
    Field<D, int> mark_, labels_;   // labels: components; see the implementation
    Field<D, int> chambers_;        // only with solids: components of what is not solid
    bool chambers_known_ = false;
    std::vector<uint8_t> solid_tiles_;
    Tiles<D> by_cell_;              // tiles whose cells are looked at one by one
    std::vector<int> whole_;        // the others that are dry, each of one component
    Memory<uint8_t> classes_;       // whether a tile is whole
    Memory<int> whole_list_, roots_, ids_, listed_, marked_, from_;
    Memory<float> volumes_;
    Memory<long long> sums_;
    int marked_count_ = 0, listed_count_ = 0;
    Memory<RegionFace> faces_;
    WallGaps<D> wall_gaps_;
    int faces_count_ = 0;
    Regions<D> regions_;
    bool any_void_ = false;
    int with_voids_ = 0;            // the region, from 1, that voids are part of; 0: the atmosphere
    std::vector<int> unknowns_;     // the region, from 1, of each unknown
    double lowest_ = 0;
};

}  // namespace tarn
