#!/usr/bin/python3
"""Long waves on tall cells: a solitary wave of three tenths of the depth keeps its height and its speed over 30 depths, and one that does not break
runs up a beach as high as Synolakis (1987) has it.

    validation/long_waves/check.py [PROGRAM]
"""

import csv
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case  # noqa: E402

G = 9.81
DEPTH, GAUGES = 0.2, {"x3": 3.0, "x4_5": 4.5, "x6": 6.0, "x7_5": 7.5, "x9": 9.0}
BEACH_DEPTH, SLOPE = 1.0, 0.17633


def read(path):
    """The columns of a csv file."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def crest(t, eta):
    """When a gauge sees the crest, and how high it is: by a parabola over the readings around the highest."""
    i = int(np.argmax(eta))
    near = slice(max(0, i - 6), i + 7)
    bend, slope, top = np.polyfit(t[near] - t[i], eta[near], 2)
    return t[i] - slope / (2 * bend), top - slope**2 / (4 * bend)


def main():
    case = Case(__file__)
    gauges = read(case.run("solitary", scene=case.folder / "solitary.toml") / "gauges.csv")
    seen = [(x, *crest(gauges["time"], gauges[name] - DEPTH)) for name, x in GAUGES.items()]
    (first_x, first_t, first), (last_x, last_t, last) = seen[0], seen[-1]
    e = 0.5 * (first + last) / DEPTH
    # Fenton 1972, to the third order.
    speed = np.sqrt(G * DEPTH * (1 + e - e**2 / 20 - 3 * e**3 / 70))
    case.expect("height after 30 depths, m", last, first, 0.03)
    case.expect("speed, m/s", (last_x - first_x) / (last_t - first_t), speed, 0.01)

    beach = read(case.run("beach", scene=case.folder / "beach.toml") / "gauges.csv")
    runup = np.max(beach["highest"]) - BEACH_DEPTH
    _, height = crest(beach["time"][: len(beach["time"]) // 2], beach["sea"][: len(beach["time"]) // 2] - BEACH_DEPTH)
    law = 2.831 * np.sqrt(1 / SLOPE) * (height / BEACH_DEPTH) ** 1.25 * BEACH_DEPTH
    case.expect("runup, m", runup, law, 0.05)

    figure, axes = case.plot(9, 3.2, columns=2)
    for name, x in GAUGES.items():
        axes[0].plot(gauges["time"], (gauges[name] - DEPTH) / DEPTH, linewidth=1, label=f"{(x - first_x) / DEPTH:.0f} depths on")
    axes[0].set(xlabel="t, s", ylabel="height / depth")
    axes[0].legend(fontsize=7)
    axes[1].plot(beach["time"], beach["highest"] - BEACH_DEPTH, linewidth=1, label="highest wet point on the beach")
    axes[1].plot(beach["time"], beach["sea"] - BEACH_DEPTH, linewidth=1, label="before it")
    axes[1].axhline(law, color="k", linestyle="--", linewidth=0.8, label="Synolakis")
    axes[1].set(xlabel="t, s", ylabel="m")
    axes[1].legend(fontsize=7)
    case.finish(figure)


if __name__ == "__main__":
    main()
