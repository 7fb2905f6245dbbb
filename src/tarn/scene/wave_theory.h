#pragma once
// Regular waves on water of even depth: the dispersion of linear theory (Airy), and velocities to Stokes' second order.
//
//   omega² = g k tanh(k d)
//   u = a omega cosh(k z) / sinh(k d) cos(theta) + 3/4 a² omega k cosh(2 k z) / sinh⁴(k d) cos(2 theta),
//   v = a omega sinh(k z) / sinh(k d) sin(theta) + 3/4 a² omega k sinh(2 k z) / sinh⁴(k d) sin(2 theta),
//
// theta = k x - omega t, z counted from the bottom. To second order the dispersion is that of linear theory.
//   Dean, Dalrymple 1991, Water Wave Mechanics for Engineers and Scientists, §3.4 and §11.2

#include <cmath>

#include "tarn/base/macros.h"

namespace tarn {

// The width of a zone that makes or absorbs waves, where it is not given. Zones of 1.5 and 2 wavelengths reflect 4.2 and
// 2.1 % of waves of 32 cells.
inline constexpr double zone_in_wavelengths = 2;

// omega of a wavenumber.
inline double wave_frequency(double k, double depth, double gravity)
{
    return std::sqrt(gravity * k * std::tanh(k * depth));
}

// The wavenumber that has a frequency, by Newton's method for k tanh(k d) = omega² / g, which is convex where it starts.
inline double wave_number(double omega, double depth, double gravity)
{
    const double deep = omega * omega / gravity;
    double k = deep > 1 / depth ? deep : std::sqrt(deep / depth);
    for (int n = 0; n < 50; ++n) {
        const double tanh = std::tanh(k * depth), slope = tanh + k * depth * (1 - tanh * tanh);
        k -= (k * tanh - deep) / slope;
    }
    return k;
}

// The velocity at which energy travels, c_g = d omega / d k.
inline double group_velocity(double k, double depth, double gravity)
{
    const double x = 2 * k * depth;
    return 0.5 * wave_frequency(k, depth, gravity) / k * (1 + (x < 100 ? x / std::sinh(x) : 0));
}

// A wave as kernels see it.
struct RegularWave {
    double k = 1, omega = 1, depth = 1;
    double amplitude = 0;  // half of its height
    bool second_order = false;

    // Along its way and upwards, at a place x along its way and z over the bottom.
    TARN_HD void velocity(double x, double z, double t, double& along, double& up) const
    {
        const double theta = k * x - omega * t, rest = 1 - std::exp(-2 * k * depth);
        // cosh(k z) / sinh(k d) and sinh(k z) / sinh(k d), without large numbers.
        const double grows = std::exp(k * (z - depth)), falls = std::exp(-2 * k * z);
        along = amplitude * omega * grows * (1 + falls) / rest * std::cos(theta);
        up = amplitude * omega * grows * (1 - falls) / rest * std::sin(theta);
        if (!second_order) return;
        const double more = 6 * amplitude * amplitude * omega * k * std::exp(2 * k * (z - 2 * depth)) /
                            (rest * rest * rest * rest);
        along += more * (1 + falls * falls) * std::cos(2 * theta);
        up += more * (1 - falls * falls) * std::sin(2 * theta);
    }
};

}  // namespace tarn
