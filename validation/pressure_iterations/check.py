#!/usr/bin/python3
"""How many iterations the pressure takes to 1e-4, and how little divergence it leaves."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case
from tarn_state import read_stats

case = Case(__file__)
most = {}
for cells in (32, 64, 128, 256):
    stats = read_stats(case.run(f"box{cells}", {"domain.cells": cells}))
    most[cells] = int(stats["pressure_iterations"].max())
    case.at_most(f"iterations at {cells}^3", most[cells], 12)
case.at_most("growth from 32^3 to 256^3", most[256] - most[32], 3)

scene = case.folder.parent.parent / "scenes/dam_break.toml"
stats = read_stats(case.run("dam_break", {"output.surface": '"none"', "output.preview": "false"}, scene=scene))
case.at_most("iterations on any step of dam_break", stats["pressure_iterations"].max(), 15)
moving = stats["max_speed"] > 0
divergence = stats["max_divergence"][moving] / (stats["max_speed"][moving] * 128)
case.at_most("divergence on any step of dam_break, of max|u|/h", divergence.max(), 1e-4)
drift = stats["volume"] / stats["volume_expected"] - 1

figure, (left, right) = case.plot(8, 3.2, 2)
left.semilogx(list(most), list(most.values()), "o-", base=2)
left.set(xlabel="cells a side", ylabel="iterations to 1e-4", ylim=(0, 16))
right.plot(stats["time"], stats["pressure_iterations"], linewidth=0.8)
right.set(xlabel="t [s]", ylabel="iterations in dam_break", ylim=(0, 16))
print(f"{case.folder.name}: dam_break's volume at the end {stats['volume'][-1]:.5g} of {stats['volume_expected'][-1]:.5g}")
case.finish(figure)
