#pragma once
// Light along a ray, by following it backwards: path tracing with next-event estimation. Inside two ways of drawing a
// path find the same light, the balance heuristic weighs them (Veach 1997).
//
// Who brings which light, so that none comes twice:
//   sun and area lights on a scattering surface, straight   next-event estimation, weighed against chance hits
//   sun and area lights through glass, water or mirrors     photons; chance hits where there are none
//   all of them in smoke, straight                          next-event estimation, weighed against chance hits
//   the dome                                                next-event estimation where it is seen straight, chance
//                                                           hits, which are frequent, through glass, water and mirrors
//
// Along a path from the camera radiance is carried, which a refraction into a medium of index n divides by n²; photons
// carry flux, which it leaves alone.

#include "tarn/render/photon_map.h"
#include "tarn/render/world.h"

namespace tarn {

struct LightPathParams {
    int bounces = 32;
    // No single path brings more light than this; what glitters would otherwise speckle the picture. 0: no limit.
    float clamp = 0;
};

// What is seen at a pixel, for denoisers and compositors.
struct Features {
    Vec3f albedo, normal, velocity;
    float depth = 0;
};

// `photons` may be null. `features`, where given, receives what the ray sees first.
Vec3f radiance(const World& world, const Photons* photons, const LightPathParams& params, Ray ray, Random& random,
               Features* features = nullptr);

}  // namespace tarn
