#include "tarn/render/integrator.h"

#include <cmath>
#include <numbers>

namespace tarn {

namespace {

constexpr float pi = std::numbers::pi_v<float>;
constexpr int most_collisions = 2000;

float balance(float mine, float other) { return mine / (mine + other); }

// Light that reaches a point straight. bends(d, density) is what it sends on of light from d, with the cosine where it is a surface, and
// the density with which it draws d; looks(d) whether light may come from there.
template <class Looks, class Bends>
Vec3f light_at(const World& world, Vec3f start, const Inside& where, float time, Random& random, const Looks& looks, const Bends& bends)
{
    Vec3f sum;
    const auto arrives = [&](Vec3f d, float distance) -> float {
        if (!looks(d) || world.blocks({start, d, time}, where, distance)) return 0;
        return world.through_smoke({start, d, time}, distance, random);
    };
    float own = 0;
    for (const Sun& sun : world.lights.suns) {
        const Vec3f d = sun.sample(random.next(), random.next());
        const float part = arrives(d, endless);
        if (!(part > 0)) continue;
        const Vec3f sent = bends(d, own);
        sum += (part * balance(1 / sun.solid_angle(), own)) * (sent * sun.irradiance);
    }
    for (const AreaLight& light : world.lights.areas) {
        const float a = 2 * random.next() - 1, b = 2 * random.next() - 1;
        const Vec3f to = light.centre + a * light.u + b * light.v - start;
        const float distance = length(to);
        const Vec3f d = (1 / distance) * to;
        const float cosine = -dot(d, light.normal), part = cosine > 0 ? arrives(d, distance * (1 - 1e-4f)) : 0.0f;
        if (!(part > 0)) continue;
        const float drawn = distance * distance / (cosine * light.area());
        const Vec3f sent = bends(d, own);
        sum += (part * balance(drawn, own) / drawn) * (sent * light.radiance);
    }
    if (!world.lights.dome.dark()) {
        const Dome::Look sky = world.lights.dome.sample(random.next(), random.next());
        const Vec3f d = sky.direction;
        const float part = sky.density > 0 ? arrives(d, endless) : 0.0f;
        if (part > 0) {
            const Vec3f sent = bends(d, own);
            sum += (part * balance(sky.density, own) / sky.density) * (sent * sky.radiance);
        }
    }
    return sum;
}

// At a scattering surface.
Vec3f direct_light(const World& world, const Material& m, Vec3f colour, const Hit& hit, Vec3f n, Vec3f out,
                   const Inside& where, float time, Random& random)
{
    Hit from = hit;
    from.normal = n;
    return light_at(
        world, world.leave(from, n), where, time, random, [&](Vec3f d) { return dot(n, d) > 0; },
        [&](Vec3f d, float& own) {
            own = density(m, colour, n, out, d);
            return dot(n, d) * value(m, colour, n, out, d);
        });
}

// In smoke that the ray has come to.
Vec3f direct_light(const World& world, const Ray& ray, Vec3f x, const Inside& where, Random& random)
{
    return light_at(
        world, x, where, ray.time, random, [](Vec3f) { return true; },
        [&](Vec3f d, float& own) {
            own = phase(dot(ray.d, d), world.smoke->forward());
            return Vec3f::all(own);
        });
}

// A direction that light turns to, with the density of the phase function.
Vec3f scattered_direction(Vec3f d, float forward, Random& random, float& density)
{
    const float cosine = sample_phase(random.next(), forward), angle = 2 * pi * random.next();
    const float sine = std::sqrt(std::max(0.0f, 1 - cosine * cosine));
    density = phase(cosine, forward);
    return normalized(Frame(d).out({sine * std::cos(angle), sine * std::sin(angle), cosine}));
}

// A path that carries little ends by chance, and stands for those that do. Radiance over n² is what a medium leaves alone.
bool survives(Vec3f& through, float ior, Random& random)
{
    const float part = std::min(1.0f, ior * ior * largest(through));
    if (random.next() >= part) return false;
    through *= 1 / part;
    return true;
}

// What is seen through smoke is as deep as the smoke's domain and faces as what is behind, on all of its paths, whether they collide or not.
void see_smoke(Features& features, const SmokeVolume& smoke, const Ray& ray, const Hit* behind)
{
    float t;
    if (!smoke.enters(t, ray, behind ? behind->t : endless)) return;
    features.depth = t;
    if (behind) features.normal = behind->normal;
}

// Whether a ray collides with smoke before t_max: then it goes on from there, and `lit` is what it brings of light that comes there straight.
bool scatters_in_smoke(const World& world, const Inside& where, Ray& ray, float t_max, Random& random, Vec3f& through, Vec3f& lit,
                       float& drawn)
{
    float t;
    if (!world.smoke->collides(t, ray, t_max, random)) return false;
    const Vec3f x = ray.at(t);
    through = through * world.smoke->albedo();
    lit = through * direct_light(world, ray, x, where, random);
    ray.d = scattered_direction(ray.d, world.smoke->forward(), random, drawn);
    ray.o = x;
    return true;
}

}  // namespace

Vec3f radiance(const World& world, const Photons* photons, const LightPathParams& params, Ray ray, Random& random,
               Features* features)
{
    Vec3f light, through = Vec3f::all(1);
    Inside where{world.bodies_at(ray.o, ray.time)};
    bool scattered = false;  // has the path met anything that scatters?
    bool straight = true;    // since then, nothing but air and clear media
    float drawn = 0;         // the density with which its direction was drawn there
    bool seen = false, coloured = false;
    int collisions = 0;

    const auto add = [&](Vec3f more) {
        const float most = largest(more);
        light += params.clamp > 0 && most > params.clamp ? (params.clamp / most) * more : more;
    };
    // The share of a light that a chance hit brings.
    const auto share = [&](float light_density) {
        if (!scattered) return 1.0f;
        if (straight) return balance(drawn, light_density);
        return photons ? 0.0f : 1.0f;
    };

    for (int bounce = 0; bounce < params.bounces; ++bounce) {
        Hit hit;
        const bool found = world.hit(hit, ray, where);
        const Material* const here = world.medium(where);
        const bool in_smoke = world.smoke && !here;
        if (in_smoke && features && !seen) see_smoke(*features, *world.smoke, ray, found ? &hit : nullptr);
        if (Vec3f lit; in_smoke && scatters_in_smoke(world, where, ray, found ? hit.t : endless, random, through, lit, drawn)) {
            if (features && !coloured) features->albedo = Vec3f::all(1);
            seen = coloured = scattered = straight = true;
            add(lit);
            if (++collisions > most_collisions || !survives(through, 1, random)) return light;
            --bounce;  // as in milk, only surfaces count
            continue;
        }
        if (found && hit.floor) {
            // Just above the horizon.
            const float faded = world.floor->faded(hit.position);
            if (faded > 0)
                add(faded * (through * world.lights.dome.radiance(normalized({ray.d[0], 0.012f, ray.d[2]}))));
            through *= 1 - faded;
        }
        if (here) {
            const Medium& medium = here->medium;
            if (medium.scatters()) {
                // A distance for one of the colours, weighed for all of them.
                const Vec3f extinction = medium.extinction();
                const int c = std::min(2, static_cast<int>(3 * random.next()));
                const float way = -std::log(1 - random.next()) / std::max(extinction[c], 1e-20f);
                const bool stays = way < (found ? hit.t : endless);
                const Vec3f passes = medium.transmittance(stays ? way : hit.t);
                float density = 0;
                for (int k = 0; k < 3; ++k) density += (stays ? extinction[k] : 1.0f) * passes[k] / 3;
                through = (1 / density) * (through * passes);
                if (stays) {
                    const Vec3f x = ray.at(way);
                    if (features && !coloured) features->albedo = Vec3f::all(1);
                    coloured = true;
                    if (photons) {
                        Vec3f sum;
                        photons->media.in_medium(x, [&](const Photon& p, float w) {
                            sum += (w * phase(-dot(p.from, -ray.d), medium.forward)) * p.flux;
                        });
                        // Photons are as dense as collisions, of which this part scatters.
                        for (int k = 0; k < 3; ++k) sum[k] *= medium.scattering[k] / std::max(extinction[k], 1e-20f);
                        add(through * sum);
                    }
                    through = through * medium.scattering;
                    ray.o = x;
                    ray.d = scattered_direction(ray.d, medium.forward, random, drawn);
                    scattered = true;
                    straight = false;
                    // In milk light turns hundreds of times before it is out; only surfaces count as bounces.
                    if (++collisions > most_collisions) return light;
                    --bounce;
                    if (!survives(through, here->ior, random)) return light;
                    continue;
                }
            } else if (!medium.clear() && found) {
                through = through * medium.transmittance(hit.t);
            }
        }

        if (!found) {
            const Dome::Look sky = world.lights.dome.look(ray.d);
            add((scattered && straight ? balance(drawn, sky.density) : 1.0f) * (through * sky.radiance));
            for (const Sun& sun : world.lights.suns)
                if (sun.holds(ray.d)) add(share(1 / sun.solid_angle()) * (through * sun.radiance()));
            if (features && !seen && features->depth == 0) features->depth = endless;
            if (features && !coloured) features->albedo = Vec3f::all(1);
            return light;
        }
        if (features && !seen) {
            seen = true;
            if (features->depth == 0) features->depth = hit.t;
            features->normal = hit.normal;
            features->velocity =
                hit.body >= 0 ? world.velocity_at(hit.body, hit.position, ray.time) : hit.velocity;
        }
        if (hit.light >= 0) {
            const AreaLight& area = world.lights.areas[static_cast<size_t>(hit.light)];
            const float cosine = -dot(ray.d, area.normal);
            add(share(hit.t * hit.t / (cosine * area.area())) * (through * area.radiance));
            if (features && !coloured) features->albedo = Vec3f::all(1);
            return light;
        }

        const Material& m = world.materials[static_cast<size_t>(hit.material)];
        const Vec3f n = dot(ray.d, hit.normal) < 0 ? hit.normal : -hit.normal;
        if (m.kind == MaterialKind::dielectric) {
            const Inside after = world.beyond(where, hit);
            const Material* const there = world.medium(after);
            const float n1 = here ? here->ior : 1, n2 = there ? there->ior : 1;
            straight = false;
            if (n1 == n2) {
                where = after;
            } else {
                Vec3f bent;
                if (random.next() < fresnel(-dot(ray.d, n), n1 / n2) || !refract(bent, ray.d, n, n1 / n2)) {
                    ray.d = reflect(ray.d, n);
                } else {
                    ray.d = bent;
                    where = after;
                    through *= n1 * n1 / (n2 * n2);
                }
            }
        } else if (m.specular()) {
            straight = false;
            through = through * mirror(m.texture.at(hit.position, hit.normal), -dot(ray.d, n));
            ray.d = reflect(ray.d, n);
        } else {
            const Vec3f colour = m.texture.at(hit.position, hit.normal), out = -ray.d;
            if (features && !coloured) {
                coloured = true;
                features->albedo = colour;
            }
            add(through * direct_light(world, m, colour, hit, n, out, where, ray.time, random));
            if (photons) {
                Vec3f sum;
                photons->surface.on_surface(hit.position, n, [&](const Photon& p, float w) {
                    sum += w * (value(m, colour, n, out, p.from) * p.flux);
                });
                add(through * sum);
            }
            Scattered next;
            if (!sample(next, m, colour, n, out, random)) return light;
            through = through * next.weight;
            ray.d = next.direction;
            drawn = next.density;
            scattered = straight = true;
        }
        ray.o = world.leave(hit, ray.d);
        where.bodies = world.bodies_at(ray.o, ray.time);

        if (bounce > 0) {
            const Material* const inside = world.medium(where);
            if (!survives(through, inside ? inside->ior : 1, random)) return light;
        }
    }
    return light;
}

}  // namespace tarn
