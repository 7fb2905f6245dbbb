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

// A path of light, followed back from where it is seen.
class Path {
public:
    Path(const World& world, const Photons* photons, const LightPathParams& params, const Ray& ray, Random& random, Features* features)
        : world_(world), photons_(photons), params_(params), ray_(ray), random_(random), features_(features),
          where_{world.bodies_at(ray.o, ray.time)}
    {
    }

    // What it brings when it has come to its end.
    Vec3f follow()
    {
        for (int bounce = 0; bounce < params_.bounces;) {
            Hit hit;
            const bool found = world_.hit(hit, ray_, where_);
            // In smoke and milk light turns hundreds of times before it is out: only surfaces count as bounces.
            Step step = meet_smoke(found ? &hit : nullptr);
            if (step == Step::on && found && hit.floor) fade(hit);
            if (step == Step::on) step = pass_medium(found ? &hit : nullptr);
            if (step == Step::ended) return light_;
            if (step == Step::scattered) continue;
            if (!found) return see_sky(), light_;
            see_surface(hit);
            if (hit.light >= 0) return see_light(hit), light_;
            if (!meet_surface(hit)) return light_;
            ray_.o = world_.leave(hit, ray_.d);
            where_.bodies = world_.bodies_at(ray_.o, ray_.time);
            const Material* const inside = world_.medium(where_);
            if (bounce++ > 0 && !survives(through_, inside ? inside->ior : 1, random_)) break;
        }
        return light_;
    }

private:
    // What happens between two surfaces: it gets there, turns on its way, or ends.
    enum class Step { on, scattered, ended };

    void add(Vec3f more)
    {
        const float most = largest(more);
        light_ += params_.clamp > 0 && most > params_.clamp ? (params_.clamp / most) * more : more;
    }
    // The share of a light that a chance hit brings.
    float share(float light_density) const
    {
        if (!scattered_) return 1.0f;
        if (straight_) return balance(drawn_, light_density);
        return photons_ ? 0.0f : 1.0f;
    }
    void see_colour(Vec3f albedo)
    {
        if (features_ && !coloured_) features_->albedo = albedo;
    }

    Step meet_smoke(const Hit* hit)
    {
        if (!world_.smoke || world_.medium(where_)) return Step::on;
        if (features_ && !seen_) see_smoke(*features_, *world_.smoke, ray_, hit);
        Vec3f lit;
        if (!scatters_in_smoke(world_, where_, ray_, hit ? hit->t : endless, random_, through_, lit, drawn_)) return Step::on;
        see_colour(Vec3f::all(1));
        seen_ = coloured_ = scattered_ = straight_ = true;
        add(lit);
        return ++collisions_ > most_collisions || !survives(through_, 1, random_) ? Step::ended : Step::scattered;
    }

    // The floor ends softly: it lets through what is just above the horizon.
    void fade(const Hit& hit)
    {
        const float faded = world_.floor->faded(hit.position);
        if (faded > 0) add(faded * (through_ * world_.lights.dome.radiance(normalized({ray_.d[0], 0.012f, ray_.d[2]}))));
        through_ *= 1 - faded;
    }

    Step pass_medium(const Hit* hit)
    {
        const Material* const here = world_.medium(where_);
        if (!here) return Step::on;
        const Medium& medium = here->medium;
        if (!medium.scatters()) {
            if (!medium.clear() && hit) through_ = through_ * medium.transmittance(hit->t);
            return Step::on;
        }
        // A distance for one of the colours, weighed for all of them.
        const Vec3f extinction = medium.extinction();
        const int c = std::min(2, static_cast<int>(3 * random_.next()));
        const float way = -std::log(1 - random_.next()) / std::max(extinction[c], 1e-20f);
        const bool stays = way < (hit ? hit->t : endless);
        const Vec3f passes = medium.transmittance(stays ? way : hit->t);
        float density = 0;
        for (int k = 0; k < 3; ++k) density += (stays ? extinction[k] : 1.0f) * passes[k] / 3;
        through_ = (1 / density) * (through_ * passes);
        if (!stays) return Step::on;
        const Vec3f x = ray_.at(way);
        see_colour(Vec3f::all(1));
        coloured_ = true;
        if (photons_) {
            Vec3f sum;
            photons_->media.in_medium(
                x, [&](const Photon& p, float w) { sum += (w * phase(-dot(p.from, -ray_.d), medium.forward)) * p.flux; });
            // Photons are as dense as collisions, of which this part scatters.
            for (int k = 0; k < 3; ++k) sum[k] *= medium.scattering[k] / std::max(extinction[k], 1e-20f);
            add(through_ * sum);
        }
        through_ = through_ * medium.scattering;
        ray_.o = x;
        ray_.d = scattered_direction(ray_.d, medium.forward, random_, drawn_);
        scattered_ = true;
        straight_ = false;
        return ++collisions_ > most_collisions || !survives(through_, here->ior, random_) ? Step::ended : Step::scattered;
    }

    void see_sky()
    {
        const Dome::Look sky = world_.lights.dome.look(ray_.d);
        add((scattered_ && straight_ ? balance(drawn_, sky.density) : 1.0f) * (through_ * sky.radiance));
        for (const Sun& sun : world_.lights.suns)
            if (sun.holds(ray_.d)) add(share(1 / sun.solid_angle()) * (through_ * sun.radiance()));
        if (features_ && !seen_ && features_->depth == 0) features_->depth = endless;
        see_colour(Vec3f::all(1));
    }

    void see_light(const Hit& hit)
    {
        const AreaLight& area = world_.lights.areas[static_cast<size_t>(hit.light)];
        const float cosine = -dot(ray_.d, area.normal);
        add(share(hit.t * hit.t / (cosine * area.area())) * (through_ * area.radiance));
        see_colour(Vec3f::all(1));
    }

    // What denoisers are told of the first surface.
    void see_surface(const Hit& hit)
    {
        if (!features_ || seen_) return;
        seen_ = true;
        if (features_->depth == 0) features_->depth = hit.t;
        features_->normal = hit.normal;
        features_->velocity = hit.body >= 0 ? world_.velocity_at(hit.body, hit.position, ray_.time) : hit.velocity;
    }

    // Where it goes on from a surface. Returns whether it does.
    bool meet_surface(const Hit& hit)
    {
        const Material& m = world_.materials[static_cast<size_t>(hit.material)];
        const Vec3f n = dot(ray_.d, hit.normal) < 0 ? hit.normal : -hit.normal;
        if (m.kind != MaterialKind::dielectric && !m.specular()) return scatter(hit, m, n);
        straight_ = false;
        if (m.kind == MaterialKind::dielectric) {
            refract_or_reflect(hit, n);
        } else {
            through_ = through_ * mirror(m.texture.at(hit.position, hit.normal), -dot(ray_.d, n));
            ray_.d = reflect(ray_.d, n);
        }
        return true;
    }

    void refract_or_reflect(const Hit& hit, Vec3f n)
    {
        const Inside after = world_.beyond(where_, hit);
        const Material *const here = world_.medium(where_), *const there = world_.medium(after);
        const float n1 = here ? here->ior : 1, n2 = there ? there->ior : 1;
        Vec3f bent;
        if (n1 == n2) {
            where_ = after;
        } else if (random_.next() < fresnel(-dot(ray_.d, n), n1 / n2) || !refract(bent, ray_.d, n, n1 / n2)) {
            ray_.d = reflect(ray_.d, n);
        } else {
            ray_.d = bent;
            where_ = after;
            through_ *= n1 * n1 / (n2 * n2);
        }
    }

    bool scatter(const Hit& hit, const Material& m, Vec3f n)
    {
        const Vec3f colour = m.texture.at(hit.position, hit.normal), out = -ray_.d;
        see_colour(colour);
        coloured_ = true;
        add(through_ * direct_light(world_, m, colour, hit, n, out, where_, ray_.time, random_));
        if (photons_) {
            Vec3f sum;
            photons_->surface.on_surface(hit.position, n,
                                         [&](const Photon& p, float w) { sum += w * (value(m, colour, n, out, p.from) * p.flux); });
            add(through_ * sum);
        }
        Scattered next;
        if (!sample(next, m, colour, n, out, random_)) return false;
        through_ = through_ * next.weight;
        ray_.d = next.direction;
        drawn_ = next.density;
        scattered_ = straight_ = true;
        return true;
    }

    const World& world_;
    const Photons* photons_;
    const LightPathParams& params_;
    Ray ray_;
    Random& random_;
    Features* features_;
    Inside where_;
    Vec3f light_, through_ = Vec3f::all(1);
    bool scattered_ = false;  // has the path met anything that scatters?
    bool straight_ = true;    // since then, nothing but air and clear media
    float drawn_ = 0;         // the density with which its direction was drawn there
    bool seen_ = false, coloured_ = false;
    int collisions_ = 0;
};

}  // namespace

Vec3f radiance(const World& world, const Photons* photons, const LightPathParams& params, Ray ray, Random& random, Features* features)
{
    return Path(world, photons, params, ray, random, features).follow();
}

}  // namespace tarn
