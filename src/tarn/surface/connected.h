#pragma once
// Joining cells into bodies, all at once: each cell points to one of its body with a lower index, the root to itself.
// Whatever the order, every body ends at the same root.

#include "tarn/backend/atomic.h"

namespace tarn {

// The root of a cell. On the way every label is set to the one after the next, so that later ways are short.
TARN_KERNEL inline int find_root(int* labels, int i)
{
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
    int a = find_root(labels, i), b = find_root(labels, j);
    while (a != b) {
        if (a < b) {
            const int lower = a;
            a = b;
            b = lower;
        }
        const int old = atomic_min(labels + a, b);
        if (old == a) break;
        a = find_root(labels, old);  // another cell was quicker: its root and ours are still to be united
        b = find_root(labels, b);
    }
}

}  // namespace tarn
