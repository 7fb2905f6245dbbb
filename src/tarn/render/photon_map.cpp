#include "tarn/render/photon_map.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tarn/backend/parallel.h"

namespace tarn {

namespace {

constexpr float pi = std::numbers::pi_v<float>;
constexpr int most_bounces = 64;
constexpr int photons_per_task = 2048;

double sum(Vec3f c) { return double(c[0]) + double(c[1]) + double(c[2]); }

// Rays toward the box of clear things from one light, and the flux of each if there were one photon.
struct Aim {
    const World& world;
    Vec3f middle;
    float radius;

    explicit Aim(const World& w)
        : world(w), middle(0.5f * (w.clear_lo() + w.clear_hi())), radius(0.5f * length(w.clear_hi() - w.clear_lo()))
    {
    }

    // The box's shadow in the sun, as a rectangle.
    struct Shadow {
        Frame frame;
        float lo[2], hi[2], far;
        float area() const { return (hi[0] - lo[0]) * (hi[1] - lo[1]); }
    };
    Shadow shadow(const Sun& sun) const
    {
        Shadow s{Frame(sun.direction), {endless, endless}, {-endless, -endless}, -endless};
        for (int corner = 0; corner < 8; ++corner) {
            Vec3f c;
            for (int a = 0; a < 3; ++a) c[a] = (corner >> a & 1) ? world.clear_hi()[a] : world.clear_lo()[a];
            const Vec3f q = s.frame.in(c);
            for (int a = 0; a < 2; ++a) {
                s.lo[a] = std::min(s.lo[a], q[a]);
                s.hi[a] = std::max(s.hi[a], q[a]);
            }
            s.far = std::max(s.far, q[2]);
        }
        return s;
    }
    // The cone in which a light sees the ball around the box; all of its hemisphere from within.
    float cone(const AreaLight& light) const
    {
        const float d = length(middle - light.centre);
        const float reach = radius + length(light.u) + length(light.v);
        return d > reach ? std::sqrt(1 - reach * reach / (d * d)) : -1.0f;
    }

    Vec3f start(Ray& ray, const Sun& sun, float a, float b, Random& random) const
    {
        const Shadow s = shadow(sun);
        const Vec3f q{s.lo[0] + a * (s.hi[0] - s.lo[0]), s.lo[1] + b * (s.hi[1] - s.lo[1]), s.far};
        ray.d = -sun.sample(random.next(), random.next());
        // Behind a plane beyond the box, so that what stands before it may cast its shadow.
        ray.o = s.frame.out(q) - (4 * radius) * ray.d;
        return s.area() * sun.irradiance;
    }
    Vec3f start(Ray& ray, const AreaLight& light, float a, float b, Random& random) const
    {
        ray.o = light.centre + (2 * a - 1) * light.u + (2 * b - 1) * light.v;
        const float least = cone(light), u = random.next(), angle = 2 * pi * random.next();
        float density;
        if (least > 0) {
            const float c = 1 - u * (1 - least), s = std::sqrt(std::max(0.0f, 1 - c * c));
            ray.d = Frame(normalized(middle - light.centre)).out({s * std::cos(angle), s * std::sin(angle), c});
            density = 1 / (2 * pi * (1 - least));
        } else {
            ray.d = sample_cosine(light.normal, u, angle / (2 * pi));
            density = dot(ray.d, light.normal) / pi;
        }
        ray.o += 1e-4f * length(light.u) * light.normal;
        const float cosine = dot(ray.d, light.normal);
        return cosine > 0 ? (light.area() * cosine / density) * light.radiance : Vec3f{};
    }

    // What decides how many photons a light gets.
    float weight(const Sun& sun) const { return shadow(sun).area() * luminance(sun.irradiance); }
    float weight(const AreaLight& light) const
    {
        const float least = cone(light);
        return light.area() * luminance(light.radiance) * (least > 0 ? 2 * pi * (1 - least) : pi);
    }
};

struct Task {
    std::vector<Photon> surface, media;
    PhotonLedger ledger;
};

void follow(Task& task, const World& world, Ray ray, Vec3f flux, Random& random)
{
    PhotonLedger& ledger = task.ledger;
    Inside where{world.bodies_at(ray.o, ray.time)};
    for (int bounce = 0; bounce < most_bounces; ++bounce) {
        const Material* here = world.medium(where);
        Hit hit;
        const bool found = world.hit(hit, ray, where);
        if (here && found) {
            const Medium& medium = here->medium;
            if (medium.scatters()) {
                const Vec3f extinction = medium.extinction();
                const int c = std::min(2, static_cast<int>(3 * random.next()));
                const float way = -std::log(1 - random.next()) / std::max(extinction[c], 1e-20f);
                const bool stays = way < hit.t;
                const Vec3f through = medium.transmittance(stays ? way : hit.t);
                float density = 0;
                for (int k = 0; k < 3; ++k) density += (stays ? extinction[k] : 1.0f) * through[k] / 3;
                const Vec3f before = flux;
                flux = (1 / density) * (through * flux);
                if (stays) {
                    // What is absorbed at this collision is left to the gathering.
                    task.media.push_back({ray.at(way), -ray.d, extinction * flux});
                    ledger.stored_in_media += sum(extinction * flux);
                    ledger.absorbed += sum(before) - sum(extinction * flux);
                    return;
                }
                ledger.absorbed += sum(before) - sum(flux);
            } else if (!medium.clear()) {
                const Vec3f before = flux;
                flux = medium.transmittance(hit.t) * flux;
                ledger.absorbed += sum(before) - sum(flux);
            }
        }
        if (!found || hit.light >= 0) {
            (bounce == 0 ? ledger.missed : ledger.escaped) += sum(flux);
            return;
        }
        const Material& m = world.materials[static_cast<size_t>(hit.material)];
        if (!m.specular()) {
            if (bounce == 0) {
                ledger.missed += sum(flux);
            } else {
                task.surface.push_back({hit.position, -ray.d, flux});
                ledger.stored += sum(flux);
            }
            return;
        }
        const Vec3f n = dot(ray.d, hit.normal) < 0 ? hit.normal : -hit.normal;
        if (m.kind == MaterialKind::metal) {
            const Vec3f before = flux;
            flux = mirror(m.texture.at(hit.position, hit.normal), -dot(ray.d, n)) * flux;
            ledger.absorbed += sum(before) - sum(flux);
            ray.d = reflect(ray.d, n);
        } else {
            const Inside after = world.beyond(where, hit);
            const Material* there = world.medium(after);
            const float n1 = here ? here->ior : 1, n2 = there ? there->ior : 1;
            Vec3f bent = ray.d;
            if (n1 != n2 && (random.next() < fresnel(-dot(ray.d, n), n1 / n2) || !refract(bent, ray.d, n, n1 / n2)))
                ray.d = reflect(ray.d, n);
            else {
                ray.d = bent;
                where = after;
            }
        }
        ray.o = world.leave(hit, ray.d);
        where.bodies = world.bodies_at(ray.o, ray.time);
    }
    ledger.lost += sum(flux);
}

void add(PhotonLedger& to, const PhotonLedger& from)
{
    to.emitted += from.emitted;
    to.missed += from.missed;
    to.stored += from.stored;
    to.stored_in_media += from.stored_in_media;
    to.absorbed += from.absorbed;
    to.escaped += from.escaped;
    to.lost += from.lost;
}

}  // namespace

PhotonMap::PhotonMap(std::vector<Photon> photons, float radius) : radius_(radius)
{
    uint32_t buckets = 16;
    while (buckets < photons.size()) buckets *= 2;
    mask_ = buckets - 1;
    starts_.assign(buckets + 1, 0);
    for (const Photon& p : photons) ++starts_[bucket_of(cell_of(p.position)) + 1];
    for (size_t b = 0; b < buckets; ++b) starts_[b + 1] += starts_[b];
    taken_.assign(buckets / 64 + 1, 0);
    for (size_t b = 0; b < buckets; ++b)
        if (starts_[b + 1] > starts_[b]) taken_[b / 64] |= uint64_t{1} << (b % 64);
    for (const Photon& p : photons)
        for (int a = 0; a < 3; ++a) {
            lo_[a] = std::min(lo_[a], p.position[a] - radius);
            hi_[a] = std::max(hi_[a], p.position[a] + radius);
        }
    std::vector<uint32_t> next(starts_.begin(), starts_.end() - 1);
    photons_.resize(photons.size());
    for (const Photon& p : photons) photons_[next[bucket_of(cell_of(p.position))]++] = p;
}

float first_radius(const World& world, int photons)
{
    constexpr float in_a_disc = 60;
    const Aim aim(world);
    float area = 0;
    for (const Sun& sun : world.lights.suns) area = std::max(area, aim.shadow(sun).area());
    if (area == 0) area = pi * aim.radius * aim.radius;
    return std::sqrt(in_a_disc * area / (pi * static_cast<float>(photons)));
}

float radius_of_pass(float first, int pass)
{
    constexpr double alpha = 2.0 / 3;
    double r2 = double(first) * first;
    for (int n = 1; n <= pass; ++n) r2 *= (n + alpha) / (n + 1);
    return static_cast<float>(std::sqrt(r2));
}

Photons shoot_photons(const World& world, int photons, int pass, float radius)
{
    const Aim aim(world);
    const size_t suns = world.lights.suns.size(), lights = suns + world.lights.areas.size();
    std::vector<float> weights(lights);
    float all = 0;
    for (size_t i = 0; i < lights; ++i) {
        weights[i] = i < suns ? aim.weight(world.lights.suns[i]) : aim.weight(world.lights.areas[i - suns]);
        all += weights[i];
    }
    struct Job {
        size_t light;
        int first, count, of;
    };
    std::vector<Job> jobs;
    if (world.any_clear() && all > 0)
        for (size_t i = 0; i < lights; ++i) {
            const int of = static_cast<int>(static_cast<float>(photons) * weights[i] / all + 0.5f);
            for (int first = 0; first < of; first += photons_per_task)
                jobs.push_back({i, first, std::min(photons_per_task, of - first), of});
        }
    std::vector<Task> tasks(jobs.size());
    parallel_rows("photons", static_cast<int>(jobs.size()), [&](int j) {
        const Job& job = jobs[static_cast<size_t>(j)];
        Task& task = tasks[static_cast<size_t>(j)];
        for (int k = 0; k < job.count; ++k) {
            const uint32_t number = static_cast<uint32_t>(job.first + k);
            Random random(number, static_cast<uint32_t>(pass), 0x70686f74u + static_cast<uint32_t>(job.light));
            // The R2 sequence (Roberts 2018) covers the light's aim evenly; each pass shifts it.
            Random shift(static_cast<uint32_t>(pass), 0x73686966u, static_cast<uint32_t>(job.light));
            const double a = shift.next() + 0.7548776662466927 * number, b = shift.next() + 0.5698402909980532 * number;
            const float u = static_cast<float>(a - std::floor(a)), v = static_cast<float>(b - std::floor(b));
            Ray ray;
            Vec3f flux = job.light < suns ? aim.start(ray, world.lights.suns[job.light], u, v, random)
                                          : aim.start(ray, world.lights.areas[job.light - suns], u, v, random);
            ray.time = random.next();
            flux *= 1 / static_cast<float>(job.of);
            task.ledger.emitted += sum(flux);
            follow(task, world, ray, flux, random);
        }
    });
    std::vector<Photon> surface, media;
    PhotonLedger ledger;
    for (const Task& t : tasks) {
        surface.insert(surface.end(), t.surface.begin(), t.surface.end());
        media.insert(media.end(), t.media.begin(), t.media.end());
        add(ledger, t.ledger);
    }
    // A ball of that radius holds fewer photons than a disc does, but in a dense medium all of them lie within a free
    // path of its surface, which a larger ball would blur.
    float in_media = 2 * radius;
    for (const Material& m : world.materials)
        if (m.medium.scatters())
            in_media = std::min(in_media, std::max(1 / largest(m.medium.extinction()), 0.25f * radius));
    return {PhotonMap(std::move(surface), radius), PhotonMap(std::move(media), in_media), ledger};
}

}  // namespace tarn
