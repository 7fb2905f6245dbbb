#pragma once
// A number or vector that may vary in time: keyframes joined by straight lines, constant before the first and after
// the last. A plain value is a single keyframe.

#include <cstddef>
#include <vector>

namespace tarn {

template <class T>
struct Keyed {
    struct Key {
        double t = 0;
        T v{};
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
            if (t < keys[i].t) {
                const double s = (t - keys[i - 1].t) / (keys[i].t - keys[i - 1].t);
                return keys[i - 1].v + s * (keys[i].v - keys[i - 1].v);
            }
        return keys.back().v;
    }
};

}  // namespace tarn
