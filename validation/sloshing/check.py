#!/usr/bin/python3
"""The period of the first sloshing mode of a tank, against the linear theory of waves."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case
from tarn_state import read_outline, read_stats, surfaces

# omega = sqrt(g k tanh(k d)) with k = pi / L, L = 1 m, d = 0.5 m (Lamb, Hydrodynamics, section 228).
PERIOD = 1.18181552

case = Case(__file__)
out = case.run()
times, modes = [], []
for frame, path in enumerate(surfaces(out)):
    x, y = read_outline(path)
    top = (y > 0.25) & (x > 1e-4) & (x < 1 - 1e-4)
    order = np.argsort(x[top])
    x, y = x[top][order], y[top][order]
    grid = (np.arange(200) + 0.5) / 200
    times.append(frame / 50)
    modes.append(2 * np.mean((np.interp(grid, x, y) - 0.5) * np.cos(np.pi * grid)))
times, modes = np.array(times), np.array(modes)
before = np.nonzero((modes[:-1] < 0) != (modes[1:] < 0))[0]
crossings = times[before] + (times[1] - times[0]) * modes[before] / (modes[before] - modes[before + 1])
period = 2 * (crossings[-1] - crossings[0]) / (len(crossings) - 1)
case.expect("period [s]", period, PERIOD, 0.01)
stats = read_stats(out)
case.expect("volume [m2]", stats["volume"][-1], stats["volume_expected"][-1], 0.001)

figure, axes = case.plot()
axes.plot(times, modes[0] * np.cos(2 * np.pi * times / PERIOD), color="0.7", label="linear theory")
axes.plot(times, modes, ".", markersize=3, label="tarn, 32 cells of depth")
axes.set(xlabel="t [s]", ylabel="first mode [m]")
axes.legend(loc="lower right")
case.finish(figure)
