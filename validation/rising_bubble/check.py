#!/usr/bin/python3
"""A bubble that rises and flattens: Hysing's benchmark, case 1."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case
from tarn_state import read_lines, surfaces

# Hysing et al. 2009, group 1 (TP2D, h = 1/320): least circularity, greatest rise speed, centre at t = 3.
CIRCULARITY, SPEED, CENTRE = 0.9013, 0.2417, 1.0813
RATE = 50

case = Case(__file__)
scene = case.folder.parent.parent / "scenes/rising_bubble.toml"


def rise(cells):
    out = case.run(f"cells_{cells}", {"domain.cells": cells, "time.rate": RATE, "time.frames": 3 * RATE,
                                      "output.preview": "false"}, scene=scene)
    centre, circularity, areas = [], [], []
    for path in surfaces(out):
        points, lines = read_lines(path)
        # The outline of the water has the walls in it; what is left is that of the bubble.
        inside = np.all((points > 1e-3) & (points < np.array([1, 2]) - 1e-3), axis=1)
        lines = lines[inside[lines[:, 0]] & inside[lines[:, 1]]]
        a, b = points[lines[:, 0]], points[lines[:, 1]]
        cross = a[:, 0] * b[:, 1] - b[:, 0] * a[:, 1]
        area = 0.5 * np.sum(cross)
        centre.append(np.sum((a[:, 1] + b[:, 1]) * cross) / (6 * area))
        circularity.append(2 * np.sqrt(np.pi * abs(area)) / np.sum(np.hypot(*(b - a).T)))
        areas.append(abs(area))
    t = np.arange(len(centre)) / RATE
    return t, np.array(centre), np.array(circularity), np.gradient(np.array(centre), t), np.array(areas)


figure, axes = case.plot(width=9, columns=3)
errors = []
for cells in (80, 160, 320):
    t, centre, circularity, speed, area = rise(cells)
    values = np.array([circularity.min(), speed.max(), centre[-1]])
    errors.append(np.abs(values / [CIRCULARITY, SPEED, CENTRE] - 1))
    for axis, curve in zip(axes, (centre, speed, circularity)):
        axis.plot(t, curve, label=f"h = 1/{cells // 2}")
    if cells == 320:
        case.expect("least circularity", values[0], CIRCULARITY, 0.015)
        case.expect("greatest rise speed [m/s]", values[1], SPEED, 0.015)
        case.expect("centre at t = 3 [m]", values[2], CENTRE, 0.015)
        case.at_most("change of area", abs(area[-1] / area[0] - 1), 1e-3)
    else:
        print(f"rising_bubble: h = 1/{cells // 2}: circularity {values[0]:.4f}, speed {values[1]:.4f}, centre {values[2]:.4f}")
case.at_most("mean error at h = 1/160 over that at 1/40", errors[2].mean() / errors[0].mean(), 0.5)
for axis, reference, name in zip(axes, (CENTRE, SPEED, CIRCULARITY), ("centre [m]", "rise speed [m/s]", "circularity")):
    axis.axhline(reference, color="0.7", linewidth=0.8)
    axis.set(xlabel="t [s]", title=name)
axes[0].legend()
case.finish(figure)
