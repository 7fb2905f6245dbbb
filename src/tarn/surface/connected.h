#pragma once
// Joining cells into bodies, all at once: each cell points to one of its body with a lower index, the root to itself.
// Whatever the order, every body ends at the same root. A negative label is a root that is no cell.

#include "tarn/backend/atomic.h"

namespace tarn {

TARN_KERNEL inline int find_root(const int* labels, int i)
{
    while (i >= 0) {
        const int up = atomic_load(labels + i);
        if (up == i) break;
        i = up;
    }
    return i;
}

// The same while bodies are still being united: every label on the way is set to the one after the next, so that later
// ways are short. It may undo what another cell has set, and so leave a label that is no root's.
TARN_KERNEL inline int find_root_shortening(int* labels, int i)
{
    if (i < 0) return i;
    int at = atomic_load(labels + i);
    if (at == i) return i;
    for (int before = i; at >= 0;) {
        const int next = atomic_load(labels + at);
        if (next == at) break;
        atomic_store(labels + before, next);
        before = at;
        at = next;
    }
    return at;
}

TARN_KERNEL inline void unite(int* labels, int i, int j)
{
    int a = find_root_shortening(labels, i), b = find_root_shortening(labels, j);
    while (a != b) {
        if (a < b) {
            const int lower = a;
            a = b;
            b = lower;
        }
        const int old = atomic_min(labels + a, b);
        if (old == a) break;
        a = find_root_shortening(labels, old);  // another cell was quicker: its root and ours are still to be united
        b = find_root_shortening(labels, b);
    }
}

}  // namespace tarn
