#pragma once
// A number or vector that may vary in time: keyframes joined as each of them says, constant before the first and after
// the last; or a formula of each component. A plain value is a single keyframe.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tarn/base/error.h"
#include "tarn/base/formula.h"

namespace tarn {

// How the way from a keyframe to the next is covered: evenly; starting slowly, ending slowly or both; along a smooth
// curve through the keyframes around it that never passes beyond them; or along a rounder one that does not slow down at
// turns and ends.
enum class Ease { linear, in, out, in_out, curve, smooth };

namespace detail {

// The slope of a smooth curve at a key, from those of the straight lines before and after it, which last a and b.
// Their weighted harmonic mean, and zero at a turn, keeps the curve between its keys.
//   Fritsch, Butland 1984, A Method for Constructing Local Monotone Piecewise Cubic Interpolants, (5)
inline double curve_slope(double before, double after, double a, double b)
{
    if (!(before * after > 0)) return 0;
    const double share = (a + 2 * b) / (3 * (a + b));
    return before * after / (share * after + (1 - share) * before);
}
template <class V>
V curve_slope(const V& before, const V& after, double a, double b)
{
    V slope{};
    for (int c = 0; c < 3; ++c) slope[c] = curve_slope(before[c], after[c], a, b);
    return slope;
}

template <class T>
T from_formulas(const std::vector<Formula>& formulas, double t)
{
    T v{};
    for (size_t i = 0; i < formulas.size(); ++i) v[static_cast<int>(i)] = formulas[i].at(t);
    return v;
}
template <>
inline double from_formulas<double>(const std::vector<Formula>& formulas, double t)
{
    return formulas[0].at(t);
}

}  // namespace detail

template <class T>
struct Keyed {
    struct Key {
        double t = 0;
        T v{};
        Ease ease = Ease::linear;  // on the way to the next
        bool operator==(const Key&) const = default;
    };
    std::vector<Key> keys{Key{}};  // sorted by t, never empty
    std::vector<Formula> formulas = {};  // of each component, instead

    Keyed() = default;
    Keyed(T constant) : keys{Key{0, constant}} {}

    bool operator==(const Keyed&) const = default;
    bool varies() const { return keys.size() > 1 || !formulas.empty(); }
    // Of what does not vary.
    const T& constant() const
    {
        TARN_CHECK_EQ(varies(), false);
        return keys.front().v;
    }
    // Whether it is ever anything but nothing.
    bool any() const { return varies() || !(keys.front().v == T{}); }
    T at(double t) const
    {
        if (!formulas.empty()) return detail::from_formulas<T>(formulas, t);
        if (t <= keys.front().t) return keys.front().v;
        for (size_t i = 1; i < keys.size(); ++i)
            if (t < keys[i].t) return between(i - 1, (t - keys[i - 1].t) / span(i - 1));
        return keys.back().v;
    }

    // The mean from t to t + dt. Between keys the value is a cubic, of which Simpson's rule is exact; a formula is taken in
    // sixteen parts.
    T mean(double t, double dt) const
    {
        if (!varies() || !(dt > 0)) return at(t);
        T sum{};
        double from = t;
        const auto add = [&](double to) {
            sum = sum + ((to - from) / (6 * dt)) * (at(from) + 4.0 * at(0.5 * (from + to)) + at(to));
            from = to;
        };
        constexpr int parts = 16;
        for (int n = 1; n < parts && !formulas.empty(); ++n) add(t + n * dt / parts);
        for (const Key& key : keys)
            if (key.t > t && key.t < t + dt) add(key.t);
        add(t + dt);
        return sum;
    }

    // The most from 0 to `until`, as far as keys or a thousand looks tell.
    T largest(double until) const
    {
        constexpr int looks = 1000;
        T most = at(0);
        for (int n = 1; n <= looks && !formulas.empty(); ++n) most = std::max(most, at(until * n / looks));
        for (const Key& key : keys)
            if (formulas.empty()) most = std::max(most, key.v);
        return most;
    }

    // Its change per second; at a corner, that of what comes after it. Of a formula by differences.
    T change(double t) const
    {
        if (!formulas.empty()) {
            const double e = 1e-5 * (1 + (t < 0 ? -t : t));
            return (1 / (12 * e)) * (8.0 * (at(t + e) - at(t - e)) - (at(t + 2 * e) - at(t - 2 * e)));
        }
        if (t < keys.front().t || t >= keys.back().t) return T{};
        size_t i = 0;
        while (t >= keys[i + 1].t) ++i;
        const double s = (t - keys[i].t) / span(i);
        switch (keys[i].ease) {
            case Ease::linear:
                break;
            case Ease::in:
                return (2 * s) * line(i);
            case Ease::out:
                return (2 - 2 * s) * line(i);
            case Ease::in_out:
                return (6 * s * (1 - s)) * line(i);
            case Ease::curve:
            case Ease::smooth:
                return cubic_slope(i, s, keys[i].ease);
        }
        return line(i);
    }

    // Its change per second along smooth curves; before the first keyframe and after the last, that at the key.
    T rate(double t) const
    {
        size_t i = 0;
        while (i + 2 < keys.size() && t >= keys[i + 1].t) ++i;
        const double part = (t - keys[i].t) / span(i), s = part < 0 ? 0 : (part > 1 ? 1 : part);
        return cubic_slope(i, s, Ease::smooth);
    }

private:
    double span(size_t i) const { return keys[i + 1].t - keys[i].t; }

    // At a share s of the way from key i to the next.
    T between(size_t i, double s) const
    {
        const T &a = keys[i].v, &b = keys[i + 1].v;
        switch (keys[i].ease) {
            case Ease::linear:
                break;
            case Ease::in:
                s *= s;
                break;
            case Ease::out:
                s *= 2 - s;
                break;
            case Ease::in_out:
                s *= s * (3 - 2 * s);
                break;
            case Ease::curve:
            case Ease::smooth:
                return a + (s * s * (3 - 2 * s)) * (b - a) + (s * (1 - s) * (1 - s) * span(i)) * slope(i, keys[i].ease) -
                       (s * s * (1 - s) * span(i)) * slope(i + 1, keys[i].ease);
        }
        return a + s * (b - a);
    }

    // Per second, at a share s of a smooth way from key i to the next.
    T cubic_slope(size_t i, double s, Ease ease) const
    {
        return (6 * s * (1 - s)) * line(i) + ((1 - s) * (1 - 3 * s)) * slope(i, ease) + (s * (3 * s - 2)) * slope(i + 1, ease);
    }

    // Per second, of the straight line from key i to the next.
    T line(size_t i) const { return (1 / span(i)) * (keys[i + 1].v - keys[i].v); }

    // Per second, of the curve at key i. One that never passes beyond its keys starts and ends at rest; the other has the
    // slope of the parabola through three keys, and no curvature at its ends.
    T slope(size_t i, Ease ease) const
    {
        const size_t last = keys.size() - 1;
        if (i == 0 || i == last) {
            if (ease == Ease::curve) return T{};
            if (last == 1) return line(0);
            return 1.5 * line(i == 0 ? 0 : last - 1) - 0.5 * slope(i == 0 ? 1 : last - 1, ease);
        }
        const double a = span(i - 1), b = span(i);
        if (ease == Ease::curve) return detail::curve_slope(line(i - 1), line(i), a, b);
        return (b / (a + b)) * line(i - 1) + (a / (a + b)) * line(i);
    }
};

}  // namespace tarn
