#pragma once
// What droplets and bubbles see of the grid, and what they do to it: for droplets.cpp alone.

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "tarn/advect/trace.h"
#include "tarn/field/sample.h"
#include "tarn/phases/droplets.h"
#include "tarn/phases/droplets_read.h"
#include "tarn/phases/two_fluids.h"

namespace tarn {

// What a droplet meets at its place.
template <int D>
struct Met {
    float u[D], grad_p[D], rho, phi;
    float slope[D];  // of phi
    float mass[D];   // of the fluid on the faces around it, along each axis, per cell
    int face[D];     // the lowest of those faces
};

// What each meets.
template <int D>
std::vector<Met<D>> look_around(const std::vector<Droplet<D>>& list, const Field<D>& phi, const FaceField<D>& velocity,
                                const Field<D>& pressure, const FaceField<D>& density)
{
    const int n = static_cast<int>(list.size());
    std::vector<Vec<D, float>> places;
    for (const Droplet<D>& f : list) places.push_back(f.x.template as<float>());
    const DeviceCopy device_copy;
    const Vec<D, float>* const at = device_copy.of(places.data(), places.size());
    Memory<Met<D>> met(static_cast<size_t>(std::max(n, 1)));
    Met<D>* const out = met.data();
    const Cell<D> cells = phi.grid().cells;
    const float h = static_cast<float>(phi.grid().h);
    const auto f = phi.view(), p = pressure.view();
    const auto u = velocity.view(), rho = density.view();
    parallel_range("fragments", n, [=] TARN_KERNEL(int i) {
        const Vec<D, float> x = at[i];
        Met<D> m{};
        const Vec<D, float> v = sample_velocity(u, cells, x);
        m.phi = sample_cells(f, cells, x);
        for (int a = 0; a < D; ++a) {
            m.u[a] = v[a];
            Vec<D, float> up = x, down = x;
            up[a] += 0.5f;
            down[a] -= 0.5f;
            m.grad_p[a] = (sample_cells(p, cells, up) - sample_cells(p, cells, down)) / h;
            m.slope[a] = (sample_cells(f, cells, up) - sample_cells(f, cells, down)) / h;
            Cell<D> last = cells;
            for (int b = 0; b < D; ++b)
                if (b != a) --last[b];
            Vec<D, float> y = x;
            y[a] += 0.5f;
            m.face[a] = locate(rho[a], y, last).index;
            for (int corner = 0; corner < (1 << D); ++corner) {
                int j = m.face[a];
                for (int b = 0; b < D; ++b)
                    if (corner >> b & 1) j += rho[a].next(b);
                m.mass[a] += rho[a][j];
            }
            m.rho += m.mass[a] / (D * (1 << D));
        }
        out[i] = m;
    });
    return read(out, n);
}

// Changes of the grid, collected so that each value changes once.
template <int D>
struct Changes {
    std::map<int, double> velocity[D];  // added on faces
    std::map<int, float> phi;           // new values
    std::map<int, float> sphere[2];     // distances to droplets, to be united, and out of bubbles, to be cut out

    // An impulse, in kg m/s, along an axis, on the faces around a droplet.
    void push(const Met<D>& m, int axis, double impulse, const Grid<D>& grid)
    {
        const double du = impulse / (m.mass[axis] * cell_volume(grid));
        for (int corner = 0; corner < (1 << D); ++corner) {
            int j = m.face[axis];
            for (int b = 0; b < D; ++b)
                if (corner >> b & 1) j += grid.stride[b];
            velocity[axis][j] += du;
        }
    }

    // A sphere of radius r, in cells, of water or of air.
    void put_sphere(Vec<D> x, double r, bool droplet, const Grid<D>& grid)
    {
        const double h = grid.h;
        const int reach = static_cast<int>(std::ceil(r)) + 2;
        Cell<D> lo, hi;
        for (int a = 0; a < D; ++a) {
            lo[a] = std::max(0, static_cast<int>(std::floor(x[a])) - reach);
            hi[a] = std::min(grid.cells[a], static_cast<int>(std::floor(x[a])) + reach + 2);
        }
        for (Cell<D> c = lo;;) {
            const double inside = r - length(c.template as<double>() - x);
            const float d = static_cast<float>(droplet ? -h * inside : h * inside);
            const auto [at, fresh] = sphere[droplet ? 0 : 1].emplace(grid.index(c) - grid.origin, d);
            if (!fresh && droplet == (d < at->second)) at->second = d;
            int a = 0;
            while (a < D && ++c[a] == hi[a]) {
                c[a] = lo[a];
                ++a;
            }
            if (a == D) return;
        }
    }
};

template <class T>
struct Listed {
    std::vector<int> where;
    std::vector<T> value;

    template <class Map>
    explicit Listed(const Map& map)
    {
        for (const auto& [i, v] : map) {
            where.push_back(i);
            value.push_back(static_cast<T>(v));
        }
    }
    int size() const { return static_cast<int>(where.size()); }
};

template <int D>
void apply(const Changes<D>& changes, Field<D>& phi, FaceField<D>& velocity)
{
    const auto p = phi.view();
    for (int a = 0; a < D; ++a) {
        const Listed<float> list(changes.velocity[a]);
        const DeviceCopy m1, m2;
        const int* const where = m1.of(list.where.data(), list.where.size());
        const float* const value = m2.of(list.value.data(), list.value.size());
        const auto u = velocity[a].view();
        parallel_range("fragments", list.size(), [=] TARN_KERNEL(int n) { u[where[n]] += value[n]; });
    }
    const Listed<float> list(changes.phi);
    const DeviceCopy m1, m2;
    const int* const where = m1.of(list.where.data(), list.where.size());
    const float* const value = m2.of(list.value.data(), list.value.size());
    parallel_range("fragments", list.size(), [=] TARN_KERNEL(int n) { p[where[n]] = value[n]; });
    for (int kind = 0; kind < 2; ++kind) {
        const Listed<float> spheres(changes.sphere[kind]);
        const DeviceCopy m3, m4;
        const int* const inside = m3.of(spheres.where.data(), spheres.where.size());
        const float* const distance = m4.of(spheres.value.data(), spheres.value.size());
        const bool unite = kind == 0;
        parallel_range("fragments", spheres.size(), [=] TARN_KERNEL(int n) {
            const float d = distance[n], old = p[inside[n]];
            p[inside[n]] = unite == (d < old) ? d : old;
        });
    }
}

// Phi around a place: up to so many cells away along every axis.
constexpr int patch_reach = 3, patch_width = 2 * patch_reach;
template <int D>
struct Patch {
    static constexpr int size = D == 2 ? patch_width * patch_width : patch_width * patch_width * patch_width;
    float phi[size];  // nowhere outside the domain
};
template <int D>
TARN_HD inline Cell<D> patch_cell(Vec<D, float> x, int n)
{
    Cell<D> c;
    for (int a = 0; a < D; ++a) {
        c[a] = static_cast<int>(x[a] < 0 ? x[a] - 1 : x[a]) + 1 - patch_reach + n % patch_width;
        n /= patch_width;
    }
    return c;
}
template <int D>
std::vector<Patch<D>> patches_around(const std::vector<Vec<D, float>>& places, const Field<D>& phi)
{
    const int n = static_cast<int>(places.size());
    const DeviceCopy device_copy;
    const Vec<D, float>* const at = device_copy.of(places.data(), places.size());
    Memory<Patch<D>> patches(static_cast<size_t>(std::max(n, 1)));
    Patch<D>* const out = patches.data();
    const Grid<D> grid = phi.grid();
    const auto f = phi.view();
    parallel_range("fragments", n * Patch<D>::size, [=] TARN_KERNEL(int i) {
        const int k = i % Patch<D>::size;
        const Cell<D> c = patch_cell<D>(at[i / Patch<D>::size], k);
        out[i / Patch<D>::size].phi[k] = grid.contains(c) ? f(c) : outside;
    });
    return read(out, n);
}

// The inverse of (14) and (15): phi is moved around x, most at x, until the cells there hold so much more water, or
// less. Half as wide, the smeared step is nearer to the part of a cell that is wet.
template <int D>
void give_back(Changes<D>& changes, const Patch<D>& patch, Vec<D, float> x, double volume, const Grid<D>& grid)
{
    const float h = static_cast<float>(grid.h), epsilon = 0.5f * smearing * h;
    struct Entry {
        int index;
        float phi, weight;
    };
    std::vector<Entry> entries;
    for (int k = 0; k < Patch<D>::size; ++k) {
        if (is_outside(patch.phi[k])) continue;
        const Cell<D> c = patch_cell<D>(x, k);
        const Vec<D, float> away = c.template as<float>() - x;
        const float weight = 1 - dot(away, away) / (patch_reach * patch_reach);
        if (!(weight > 0)) continue;
        const int index = grid.index(c) - grid.origin;
        const auto changed = changes.phi.find(index);
        entries.push_back({index, changed == changes.phi.end() ? patch.phi[k] : changed->second, weight});
    }
    const auto gained = [&](float by) {
        double sum = 0;
        for (const Entry& e : entries)
            sum += smeared_step(e.phi - by * e.weight, epsilon) - smeared_step(e.phi, epsilon);
        return sum;
    };
    float lo = -2 * h, hi = 2 * h;
    for (int n = 0; n < 24; ++n) {
        const float middle = 0.5f * (lo + hi);
        (gained(middle) < volume ? lo : hi) = middle;
    }
    for (const Entry& e : entries) changes.phi[e.index] = e.phi - lo * e.weight;
}

}  // namespace tarn
