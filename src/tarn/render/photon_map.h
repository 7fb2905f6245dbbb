#pragma once
// Light that reaches a surface through glass and water, as particles of flux [EMF02] §3.5, Jensen 2001. Photons start
// at the sun and at area lights, toward clear things only; they are bent and mirrored until they first meet something
// that scatters, and stay there. Their density is the irradiance.
//
// Each pass of a picture makes a new map with a smaller radius: r² falls as (n + 2/3) / (n + 1) (Knaus and Zwicker
// 2011), so that blur and noise both vanish as passes add up.

#include <vector>

#include "tarn/render/world.h"

namespace tarn {

struct Photon {
    Vec3f position;
    Vec3f from;  // the direction it came from
    Vec3f flux;  // W
};

// Inside the power of the photons went, in watts (the sum of the three colours).
struct PhotonLedger {
    double emitted = 0;  // toward clear things
    double missed = 0;   // met something else first: direct light, which is not counted here
    double stored = 0;   // on surfaces
    double stored_in_media = 0;
    double absorbed = 0;  // by media and metals
    double escaped = 0;
    double lost = 0;  // after too many bounces
};

class PhotonMap {
public:
    PhotonMap(std::vector<Photon> photons, float radius);

    size_t size() const { return photons_.size(); }
    float radius() const { return radius_; }
    const std::vector<Photon>& photons() const { return photons_; }

    // Calls f(photon, weight) for those near a point of a surface; the weights, 1/m², make flux a density.
    template <class F>
    void on_surface(Vec3f x, Vec3f n, const F& f) const
    {
        const float r2 = radius_ * radius_, scale = 2 / (3.14159265f * r2);
        near(x, [&](const Photon& p, float d2) {
            const float off = dot(p.position - x, n);
            // Photons beside an edge lie on another surface.
            if (std::abs(off) < 0.3f * radius_ && dot(p.from, n) > 0) f(p, scale * (1 - d2 / r2));
        });
    }
    // The same in a medium; the weights are 1/m³.
    template <class F>
    void in_medium(Vec3f x, const F& f) const
    {
        const float scale = 3 / (4 * 3.14159265f * radius_ * radius_ * radius_);
        near(x, [&](const Photon& p, float) { f(p, scale); });
    }

private:
    template <class F>
    void near(Vec3f x, const F& f) const
    {
        if (photons_.empty()) return;
        const float inverse = 0.5f / radius_, r2 = radius_ * radius_;
        Cell<3> first;
        for (int a = 0; a < 3; ++a) {
            if (x[a] < lo_[a] || x[a] > hi_[a]) return;
            first[a] = static_cast<int>(std::floor(x[a] * inverse - 0.5f));
        }
        for (int corner = 0; corner < 8; ++corner) {
            const Cell<3> c{first[0] + (corner & 1), first[1] + (corner >> 1 & 1), first[2] + (corner >> 2)};
            const size_t bucket = bucket_of(c);
            if (!(taken_[bucket / 64] >> (bucket % 64) & 1)) continue;
            for (uint32_t i = starts_[bucket]; i < starts_[bucket + 1]; ++i) {
                const Photon& p = photons_[i];
                const Vec3f d = p.position - x;
                const float d2 = dot(d, d);
                // Different cells may share a bucket.
                if (d2 < r2 && cell_of(p.position) == c) f(p, d2);
            }
        }
    }
    Cell<3> cell_of(Vec3f x) const
    {
        Cell<3> c;
        for (int a = 0; a < 3; ++a) c[a] = static_cast<int>(std::floor(x[a] * (0.5f / radius_)));
        return c;
    }
    size_t bucket_of(Cell<3> c) const
    {
        const uint32_t hash =
            scramble(static_cast<uint32_t>(c[0]) * 73856093u ^ static_cast<uint32_t>(c[1]) * 19349663u ^
                     static_cast<uint32_t>(c[2]) * 83492791u);
        return hash & mask_;
    }

    std::vector<Photon> photons_;
    float radius_;
    uint32_t mask_ = 0;
    std::vector<uint32_t> starts_;
    // Most places have no photons near: a box around all of them, and a bit for each bucket that is not empty, which
    // lie closer to the processor than the starts.
    Vec3f lo_ = Vec3f::all(endless), hi_ = Vec3f::all(-endless);
    std::vector<uint64_t> taken_;
};

struct Photons {
    PhotonMap surface, media;
    PhotonLedger ledger;
};

// The radius of the first pass: of a disc that so many photons fall into where nothing focuses them.
float first_radius(const World& world, int photons);
float radius_of_pass(float first, int pass);

// The same on any number of threads.
Photons shoot_photons(const World& world, int photons, int pass, float radius);

}  // namespace tarn
