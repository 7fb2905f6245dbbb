#!/usr/bin/python3
"""Surfaces that a given velocity carries away and brings back, by every method that keeps a surface."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case
from tarn_state import newest_checkpoint, read_checkpoint, read_stats

# Zalesak 1979, as in figure 2 of Enright, Marschner & Fedkiw 2002; LeVeque 1996; Enright, Fedkiw, Ferziger & Mitchell 2002. Each
# surface should come back as it was: bounds on what the particle level set may lose of its volume, and its shape differ.
BOUNDS = {"zalesak": (0.005, 0.02), "vortex_in_a_box": (0.01, None), "enright_sphere": (0.03, None)}
# The paper's own method, forward Euler and its reinitialisation: what its figure 2 (d) shows, and in 3D what the last of them reports (2.6 %).
PAPER = {"zalesak": 0.02, "vortex_in_a_box": 0.02, "enright_sphere": 0.03}
METHODS = {
    "particle-level-set": {"method.surface": "particle-level-set"},
    "enright-2002": {"method.preset": "enright-2002"},
    "foster-fedkiw-2001": {"method.surface": "foster-fedkiw-2001"},
    "one-sided-particles": {"method.surface": "one-sided-particles"},
    "level-set, WENO5": {"method.surface": "level-set", "surface.advection": "weno5"},
    "level-set, semi-Lagrangian": {"method.surface": "level-set", "surface.advection": "semi-lagrangian"},
}


def notched_disc(x, y):
    disc = (x - 0.5) ** 2 + (y - 0.75) ** 2 < 0.15**2
    return disc & ~((np.abs(x - 0.5) < 0.025) & (y < 0.85))


def disc(x, y):
    return (x - 0.5) ** 2 + (y - 0.75) ** 2 < 0.15**2


def ball(x, y, z):
    return (x - 0.35) ** 2 + (y - 0.35) ** 2 + (z - 0.35) ** 2 < 0.15**2


EXACT = {"zalesak": notched_disc, "vortex_in_a_box": disc, "enright_sphere": ball}


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


case = Case(__file__)
rows, ends = [], {}
for name, (volume_bound, shape_bound) in BOUNDS.items():
    for method, settings in METHODS.items():
        if method in ("one-sided-particles", "foster-fedkiw-2001") and name != "zalesak":
            continue
        quiet = {"output.surface": "none", "output.preview": "false"}
        out = case.run(f"{name}-{len(rows)}", {**settings, **quiet}, scene=case.folder.parent.parent / f"scenes/{name}.toml")
        state, stats = read_checkpoint(newest_checkpoint(out)), read_stats(out)
        volume, shape = stats["volume"][-1] / stats["volume"][0] - 1, shape_error(state, EXACT[name])
        rows.append((name, method, f"{100 * volume:+.2f} %", f"{100 * shape:.2f} %", f"{stats['seconds'].sum():.0f} s"))
        if len(state.cells) == 2:
            ends[name, method] = state
        if method == "enright-2002":
            case.at_most(f"{name}: change of volume with the preset enright-2002", abs(volume), PAPER[name])
        if method == "particle-level-set":
            case.at_most(f"{name}: change of volume", abs(volume), volume_bound)
            if shape_bound:
                case.at_most(f"{name}: difference of shape", shape, shape_bound)

for row in [("scene", "method", "volume", "shape", "time"), *rows]:
    print("{:<16} {:<27} {:>9} {:>8} {:>7}".format(*row))

figure, axes = case.plot(11, 3, 4)
panels = [("zalesak", "level-set, WENO5"), ("zalesak", "one-sided-particles"), ("zalesak", "particle-level-set"),
          ("vortex_in_a_box", "particle-level-set")]
fine = (np.arange(1000) + 0.5) / 1000
for a, key in zip(axes, panels):
    state = ends[key]
    a.contourf(fine, fine, EXACT[key[0]](fine[:, None], fine[None, :]).T, levels=[0.5, 1], colors=["0.85"])
    a.contour(state.centres(0), state.centres(1), state.phi.T, levels=[0], colors="C0", linewidths=1.2)
    a.set(title=f"{key[0]}\n{key[1]}", xlim=(0.32, 0.68), ylim=(0.57, 0.93), aspect="equal", xticks=[], yticks=[])
case.finish(figure)
