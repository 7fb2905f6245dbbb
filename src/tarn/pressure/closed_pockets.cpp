#include <utility>

#include "tarn/pressure/poisson.h"

namespace tarn {

template <int D>
ClosedPockets<D> find_closed_pockets(const Poisson<D>& system, const Field<D>& excess, Field<D, unsigned char>& visited,
                                     bool solids)
{
    const auto ev = excess.view();
    const auto inverse = std::as_const(*system.inverse_diagonal).view();
    const double tied = parallel_sum("pockets", system.tiles, [=](Cell<D> c) {
        const int i = ev.index(c);
        return inverse[i] > 0 && ev[i] > 0 ? 1.0 : 0.0;
    });
    // In a box without solids, water either has a surface or fills the box.
    ClosedPockets<D> pockets;
    if (!solids) {
        pockets.everything = tied == 0;
        return pockets;
    }

    const auto w = std::as_const(*system.w).view();
    const auto seen = visited.view();
    std::vector<int> stack, body;
    const auto flood = [&](int start) {
        body.clear();
        stack.push_back(start);
        seen[start] = 1;
        while (!stack.empty()) {
            const int i = stack.back();
            stack.pop_back();
            body.push_back(i);
            for (int a = 0; a < D; ++a) {
                const int n = w[a].next(a);
                if (w[a][i] > 0 && !seen[i - n]) seen[i - n] = 1, stack.push_back(i - n);
                if (w[a][i + n] > 0 && !seen[i + n]) seen[i + n] = 1, stack.push_back(i + n);
            }
        }
    };
    const auto each = [&](auto&& f) {
        for (const Box<D>& box : system.tiles.boxes) backend::each(box, [&](Cell<D> c) { f(inverse.index(c)); });
    };
    size_t unknowns = 0;
    each([&](int i) {
        seen[i] = 0;
        unknowns += inverse[i] > 0;
    });
    each([&](int i) {
        if (inverse[i] > 0 && ev[i] > 0 && !seen[i]) flood(i);
    });
    each([&](int i) {
        if (!(inverse[i] > 0) || seen[i]) return;
        flood(i);
        pockets.bodies.push_back(body);
    });
    if (pockets.bodies.size() == 1 && pockets.bodies[0].size() == unknowns) return {.everything = true, .bodies = {}};
    return pockets;
}

template <int D>
void remove_means(Field<D>& f, const Poisson<D>& system, const ClosedPockets<D>& pockets)
{
    const auto v = f.view();
    if (pockets.everything) {
        const auto inverse = std::as_const(*system.inverse_diagonal).view();
        const double unknowns =
            parallel_sum("means", system.tiles, [=](Cell<D> c) { return inverse(c) > 0 ? 1.0 : 0.0; });
        const double sum = parallel_sum("means", system.tiles, [=](Cell<D> c) { return inverse(c) > 0 ? v(c) : 0.0; });
        const float mean = static_cast<float>(unknowns > 0 ? sum / unknowns : 0);
        parallel_for("means", system.tiles, [=](Cell<D> c) { v(c) -= inverse(c) > 0 ? mean : 0.0f; });
        return;
    }
    for (const std::vector<int>& body : pockets.bodies) {
        double sum = 0;
        for (const int i : body) sum += v[i];
        const float mean = static_cast<float>(sum / static_cast<double>(body.size()));
        for (const int i : body) v[i] -= mean;
    }
}

template ClosedPockets<2> find_closed_pockets(const Poisson<2>&, const Field<2>&, Field<2, unsigned char>&, bool);
template ClosedPockets<3> find_closed_pockets(const Poisson<3>&, const Field<3>&, Field<3, unsigned char>&, bool);
template void remove_means(Field<2>&, const Poisson<2>&, const ClosedPockets<2>&);
template void remove_means(Field<3>&, const Poisson<3>&, const ClosedPockets<3>&);

}  // namespace tarn
