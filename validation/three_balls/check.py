#!/usr/bin/python3
"""Three balls of water fall into a pool ([IGLF06] figure 4): with a quarter of the depth in the optical layer the splash is as high as on all rows, and
the water has as much energy after 2 s.

    validation/three_balls/check.py [PROGRAM]
"""

import csv
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case  # noqa: E402
from tarn_state import read_stats  # noqa: E402

LEVEL, CELLS = 4.0, 64  # finer ones throw drops to the ceiling
FALLEN = 0.8  # s: by then the balls, which start higher than they splash, are in the pool
QUIET = {"domain.cells": CELLS, "output.surface": '"none"', "output.particles": "false", "output.preview": "false", "output.state": "false"}


def splash(case, name, settings):
    out = case.run(name, {**QUIET, **settings}, scene=case.folder.parent.parent / "scenes" / "three_balls.toml")
    with open(out / "gauges.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    time, top = (np.array([float(row[key]) for row in rows]) for key in ("time", "highest"))
    return time, top - LEVEL, np.max(top[time > FALLEN]) - LEVEL, read_stats(out)


def main():
    case = Case(__file__)
    runs = {"all rows": {"method.grid": '"uniform"'}, "1/4": {"tall.optical_depth": 1}, "1/16": {"tall.optical_depth": 0.25}}
    seen = {name: splash(case, name.replace("/", "_"), settings) for name, settings in runs.items()}
    whole = seen["all rows"]
    figure, axes = case.plot(9, 3.2, columns=2)
    for name, (time, top, _, stats) in seen.items():
        axes[0].plot(time, top, linewidth=1, label=name)
        axes[1].plot(stats["time"], stats["kinetic_energy"], linewidth=1, label=name)
    axes[0].set(xlabel="t, s", ylabel="highest water over the pool, m")
    axes[1].set(xlabel="t, s", ylabel="kinetic energy, J")
    axes[0].legend()
    case.expect("height of the splash with 1/4, m", seen["1/4"][2], whole[2], 0.05)
    case.expect("kinetic energy at 2 s with 1/4, J", seen["1/4"][3]["kinetic_energy"][-1], whole[3]["kinetic_energy"][-1], 0.05)
    for name, (_, _, height, stats) in seen.items():
        print(f"three_balls: {name}: {height:.3f} m, {stats['kinetic_energy'][-1]:.0f} J, {stats['unknowns'][-1]:.0f} unknowns, "
              f"{np.mean(stats['pressure_iterations'][1:]):.1f} iterations", flush=True)
    case.finish(figure)


if __name__ == "__main__":
    main()
