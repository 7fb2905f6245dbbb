#pragma once
// A number or vector that may vary in time: keyframes joined as each of them says, constant before the first and after
// the last. A plain value is a single keyframe.

#include <cstddef>
#include <vector>

namespace tarn {

// How the way from a keyframe to the next is covered: evenly; starting slowly, ending slowly or both; or along a smooth
// curve through the keyframes around it.
enum class Ease { linear, in, out, in_out, curve };

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

    Keyed() = default;
    Keyed(T constant) : keys{Key{0, constant}} {}

    bool operator==(const Keyed&) const = default;
    bool varies() const { return keys.size() > 1; }
    T at(double t) const
    {
        if (t <= keys.front().t) return keys.front().v;
        for (size_t i = 1; i < keys.size(); ++i)
            if (t < keys[i].t) return between(i - 1, (t - keys[i - 1].t) / span(i - 1));
        return keys.back().v;
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
                return a + (s * s * (3 - 2 * s)) * (b - a) + (s * (1 - s) * (1 - s) * span(i)) * slope(i) -
                       (s * s * (1 - s) * span(i)) * slope(i + 1);
        }
        return a + s * (b - a);
    }

    // Per second, of the smooth curve at key i; it starts and ends at rest.
    T slope(size_t i) const
    {
        if (i == 0 || i + 1 == keys.size()) return T{};
        const T before = (1 / span(i - 1)) * (keys[i].v - keys[i - 1].v);
        const T after = (1 / span(i)) * (keys[i + 1].v - keys[i].v);
        return detail::curve_slope(before, after, span(i - 1), span(i));
    }
};

}  // namespace tarn
