#!/usr/bin/python3
"""How the sweeps of relaxation and the cost of the explicit scheme grow with the resolution, beside the default method."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case
from tarn_state import read_stats

case = Case(__file__)
sizes = (16, 24, 32, 48)
ways = {
    "relaxation": {"method.solver": '"projection"', "pressure.solver": '"relaxation"', "time.frames": 1},
    "multigrid": {"method.solver": '"projection"', "time.frames": 1},
}
power = lambda values: np.polyfit(np.log(sizes), np.log(values), 1)[0]
most = {}
for name, settings in ways.items():
    # The first solve has no earlier pressure to begin with.
    stats = [read_stats(case.run(f"{name}{n}", {"domain.cells": n, **settings})) for n in sizes]
    most[name] = [int(s["pressure_iterations"].max()) for s in stats]
case.expect("power of the cells along a side, of relaxation's sweeps", power(most["relaxation"]), 2, 0.3, relative=False)
case.at_most("growth of the multigrid's iterations", most["multigrid"][-1] - most["multigrid"][0], 3)

work, seconds = [], []
for n in sizes:
    stats = read_stats(case.run(f"explicit{n}", {"domain.cells": n}, ["--threads", "1"]))
    # Cells times steps, and times the sweeps over them.
    work.append(float((stats["cells_wet"] * (stats["pressure_iterations"] + 1)).sum()))
    seconds.append(float((stats["seconds_advect"] + stats["seconds_surface"] + stats["seconds_pressure"]).sum()))
case.expect("power of the cells along a side, of the explicit scheme's work", power(work), 4, 1, relative=False)
print(f"{case.folder.name}: seconds {', '.join(f'{s:.3g}' for s in seconds)}: power {power(seconds):.2f}")
print(f"{case.folder.name}: sweeps {most}")

figure, (left, right) = case.plot(8, 3.2, 2)
for name, values in most.items():
    left.loglog(sizes, values, "o-", label=name)
left.loglog(sizes, [most["relaxation"][0] * (n / 16) ** 2 for n in sizes], ":", color="0.5", label="square")
left.set(xlabel="cells along a side", ylabel="sweeps or iterations, at most")
right.loglog(sizes, seconds, "o-", label="explicit scheme")
right.loglog(sizes, [seconds[0] * (n / 16) ** 4 for n in sizes], ":", color="0.5", label="fourth power")
right.set(xlabel="cells along a side", ylabel="seconds on one core")
for a in (left, right):
    a.set_xticks(sizes, [str(n) for n in sizes], minor=False)
    a.minorticks_off()
    a.legend()
case.finish(figure)
