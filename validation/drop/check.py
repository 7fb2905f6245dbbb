#!/usr/bin/python3
"""The period of a two-dimensional drop that swings by its surface tension."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case
from tarn_state import read_outline, read_stats, surfaces

# omega^2 = (n^3 - n) sigma / (rho a^3) (Lamb, Hydrodynamics, section 275, in two dimensions): n = 2, a = 1/3, rho = 27 and
# sigma = 2/3 make omega 2. Enright, Nguyen, Gibou & Fedkiw 2003, table 2, find 3.168 on 100 cells.
PERIOD = np.pi

case = Case(__file__)
out = case.run()
times, modes = [], []
for frame, path in enumerate(surfaces(out)):
    x, y = read_outline(path)
    x, y = x - 0.5, y - 0.5
    angle = np.arctan2(y, x)
    harmonics = np.stack([np.ones_like(x), np.cos(angle), np.sin(angle), np.cos(2 * angle), np.sin(2 * angle)], axis=1)
    times.append(frame / 30)
    modes.append(np.linalg.lstsq(harmonics, np.hypot(x, y), rcond=None)[0][3])
times, modes = np.array(times), np.array(modes)
before = np.nonzero((modes[:-1] < 0) != (modes[1:] < 0))[0]
crossings = times[before] + (times[1] - times[0]) * modes[before] / (modes[before] - modes[before + 1])
period = 2 * (crossings[-1] - crossings[0]) / (len(crossings) - 1)
case.expect("period [s]", period, PERIOD, 0.02)
stats = read_stats(out)
case.expect("volume [m2]", stats["volume"][-1], stats["volume_expected"][-1], 0.01)

figure, axes = case.plot()
axes.plot(times, modes[0] * np.cos(2 * times), color="0.7", label="Lamb")
axes.plot(times, modes, ".", markersize=3, label="tarn, 100 cells")
axes.set(xlabel="t [s]", ylabel="second mode [m]")
axes.legend(loc="lower right")
case.finish(figure)
