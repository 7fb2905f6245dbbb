"""Shapes that given flows bring back, and how far a surface is from them."""

import numpy as np


def notched_disc(x, y):
    disc = (x - 0.5) ** 2 + (y - 0.75) ** 2 < 0.15**2
    return disc & ~((np.abs(x - 0.5) < 0.025) & (y < 0.85))


def refined(phi, fine, offset):
    """Phi at one of the `fine` points of every cell along each axis, interpolated from the cells around it."""
    for axis, n in enumerate(offset):
        at = np.clip(np.arange(phi.shape[axis]) + (n + 0.5) / fine - 0.5, 0, phi.shape[axis] - 1)
        low = np.minimum(at.astype(int), phi.shape[axis] - 2)
        shape = [-1 if a == axis else 1 for a in range(phi.ndim)]
        weight = (at - low).reshape(shape)
        phi = (1 - weight) * np.take(phi, low, axis) + weight * np.take(phi, low + 1, axis)
    return phi


def shape_error(state, exact):
    """The part that belongs either to the water or to what it should be, but not to both, of what it should be."""
    fine = 8 if len(state.cells) == 2 else 4
    different = wanted = 0
    for offset in np.ndindex(*[fine] * len(state.cells)):
        x = np.meshgrid(*[(np.arange(n) + (o + 0.5) / fine) * state.h for n, o in zip(state.cells, offset)],
                        indexing="ij", sparse=True)
        is_wet, should = refined(state.phi, fine, offset) < 0, exact(*x)
        different += np.count_nonzero(is_wet != should)
        wanted += np.count_nonzero(should)
    return different / wanted
