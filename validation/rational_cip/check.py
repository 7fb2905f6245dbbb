#!/usr/bin/python3
"""Rational CIP beside monotonic CIP and linear interpolation: what is lost, and what it takes, in one dimension and two."""

import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case
from shapes import notched_disc, shape_error
from tarn_state import newest_checkpoint, read_checkpoint, read_stats

CFL, SIZES = 0.3, (128, 256)


def linear(v0, s0, v1, s1, x):
    return v0 + x * (v1 - v0), s0


def cubic(v0, s0, v1, s1, x):
    d = v1 - v0
    a, b = s0 + s1 - 2 * d, 3 * d - 2 * s0 - s1
    return ((a * x + b) * x + s0) * x + v0, (3 * a * x + 2 * b) * x + s0


def monotonic(v0, s0, v1, s1, x):
    """The appendix of Song, Shin & Ko 2005, as src/tarn/advect/cip.h has it."""
    d = v1 - v0
    sign = np.where(d < 0, -1.0, 1.0)
    d, p, q = sign * d, np.maximum(sign * s0, 0), np.maximum(sign * s1, 0)
    outside = (p + q > 3 * d) & (p * p + p * q + q * q - 6 * d * (p + q) + 9 * d * d > 0)
    scale = np.where(outside, 3 * d / np.sqrt(np.maximum(p * p + q * q, 1e-30)), 1)
    return cubic(v0, sign * scale * p, v1, sign * scale * q, x)


def rational(v0, s0, v1, s1, x):
    """Xiao, Yabe & Ito 1996."""
    d = v1 - v0
    before, after = d - s0, s1 - d
    least = 1e-6 * (np.abs(before) + np.abs(after)) + 1e-30
    ratio = (np.abs(before) + least) / (np.abs(after) + least)
    a = after * ratio - before
    b = d * (ratio - 1) + before - a
    below = 1 / (1 + (ratio - 1) * x)
    rise = ((a * x + b) * x + s0) * x * below
    return v0 + rise, ((3 * a * x + 2 * b) * x + s0 - (ratio - 1) * rise) * below


PROFILES = {"linear": linear, "cip": monotonic, "rational-cip": rational}


def once_around(profile, n, square):
    """A wave once around a ring; returns where it began, where it ends, and nanoseconds a value."""
    x = np.arange(n) / n
    value = ((x >= 0.25) & (x < 0.75)) * 1.0 if square else np.sin(2 * np.pi * x)
    slope = np.zeros(n) if square else 2 * np.pi / n * np.cos(2 * np.pi * x)
    start, left, steps = value.copy(), float(n), int(np.ceil(n / CFL - 1e-9))
    begun = time.process_time()
    for _ in range(steps):
        cfl = min(CFL, left)
        left -= cfl
        value, slope = profile(np.roll(value, 1), np.roll(slope, 1), value, slope, 1 - cfl)
    return start, value, (time.process_time() - begun) / steps / n * 1e9


case = Case(__file__)
rows, ends = [], {}
for square in (True, False):
    for name, profile in PROFILES.items():
        errors, over = [], 0
        for n in SIZES:
            start, end, _ = once_around(profile, n, square)
            errors.append(np.abs(end - start).mean())
            over = max(over, np.abs(end - 0.5).max() - 0.5) if square else 0
        ends[name, square] = end
        rows.append(("square wave" if square else "sine", name, f"{errors[0]:.3g}", f"{errors[1]:.3g}", f"{np.log2(errors[0] / errors[1]):.2f}",
                     f"{over:.1e}" if square else "", ""))
        if square and name != "linear":
            case.at_most(f"{name}: square wave beyond its range", over, 1e-12)

# Zalesak's disc by a level set alone, whose distance is made anew as always; the time is that of the surface.
for name in PROFILES:
    quiet = {"output.surface": "none", "output.preview": "false", "output.state": "false", "method.surface": "level-set", "surface.advection": name}
    out = case.run(f"disc-{name}", quiet, extra=("--threads", "1"), scene=case.folder.parent.parent / "scenes/zalesak.toml")
    state, stats = read_checkpoint(newest_checkpoint(out)), read_stats(out)
    shape = shape_error(state, notched_disc)
    volume = stats["volume"][-1] / stats["volume"][0] - 1
    ends[name, "disc"] = state
    rows.append(("Zalesak's disc", name, f"shape {100 * shape:.1f} %", f"volume {100 * volume:+.1f} %", "", "",
                 f"{1e3 * stats['seconds_surface'].mean():.2f} ms a step"))

for row in [("what", "scheme", f"error at {SIZES[0]}", f"at {SIZES[1]}", "order", "beyond its range", "time"), *rows]:
    print("{:<15} {:<13} {:>14} {:>14} {:>6} {:>17} {:>18}".format(*row))

figure, axes = case.plot(9, 3.2, 2)
axes[0].plot(np.arange(SIZES[1]) / SIZES[1], start * 0 + once_around(linear, SIZES[1], True)[0], color="0.7", label="exact")
for name in PROFILES:
    axes[0].plot(np.arange(SIZES[1]) / SIZES[1], ends[name, True], linewidth=1, label=name)
axes[0].set(title="A square wave once around", xlim=(0.15, 0.85))
axes[0].legend()
for i, name in enumerate(PROFILES):
    state = ends[name, "disc"]
    axes[1].contour(state.centres(0), state.centres(1), state.phi.T, levels=[0], colors=f"C{i}", linewidths=1.2)
axes[1].set(title="Zalesak's disc after a turn", xlim=(0.32, 0.68), ylim=(0.57, 0.93), aspect="equal")
case.finish(figure)
