#!/usr/bin/python3
"""The pressure in a resting drop, and the currents that surface tension should not make."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case
from tarn_state import newest_checkpoint, read_checkpoint, read_stats

JUMP = 4.0  # Laplace: sigma / R in two dimensions

case = Case(__file__)
figure, axes = case.plot()
for interface in ("smeared", "sharp"):
    speeds, sizes = [], (32, 64, 128)
    for cells in sizes:
        out = case.run(f"{interface}_{cells}", {"domain.cells": cells, "method.interface": interface})
        state = read_checkpoint(newest_checkpoint(out))
        x, y = np.meshgrid(state.centres(0), state.centres(1), indexing="ij")
        r = np.hypot(x - 0.5, y - 0.5)
        jump = state.pressure[r < 0.15].mean() - state.pressure[r > 0.35].mean()
        stats = read_stats(out)
        speeds.append(stats["max_speed"][len(stats["time"]) // 2:].max())
        if cells == 128:
            case.expect(f"pressure jump, {interface} [Pa]", jump, JUMP, 0.01)
        axes.semilogy(stats["time"][1:], stats["max_speed"][1:], label=f"{interface}, {cells} cells")
    case.at_most(f"currents at 128 cells over those at 32, {interface}", speeds[2] / speeds[0], 0.5)
    print(f"resting_drop: {interface}: " + ", ".join(f"{s:.2e} m/s at {n}" for s, n in zip(speeds, sizes)))
axes.set(xlabel="t [s]", ylabel="fastest water [m/s]")
axes.legend(fontsize=7)
case.finish(figure)
