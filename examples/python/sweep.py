#!/usr/bin/python3
"""A parameter sweep with a plot: how high a dam break splashes against a wall, by the height of the dam.

    PYTHONPATH=build/python python3 examples/python/sweep.py [--quick]     writes sweep.csv, and sweep.png where matplotlib is there
"""

import csv
import sys

import numpy as np

import tarn


def highest_splash(height, cells, until):
    scene = tarn.Scene(domain={"size": [1, 1], "cells": cells},
                       water=[{"shape": "box", "min": [-1, -1], "max": [0.3, height]}],
                       method={"phases": "water-air", "surface": "level-set"}, time={"cfl": 4})
    sim = tarn.Simulation(scene)
    highest = 0
    while sim.time < until:
        sim.step(until=until)
        # The highest wet cell of the last column.
        wet = np.flatnonzero(sim.phi[-1] < 0)
        highest = max(highest, (wet.max() + 1) * sim.cell_size if len(wet) else 0)
    return highest


def main():
    quick = "--quick" in sys.argv
    heights = np.linspace(0.2, 0.5, 3 if quick else 7)
    results = [(h, highest_splash(h, 32 if quick else 96, 0.4 if quick else 0.9)) for h in heights]
    with open("sweep.csv", "w", newline="") as file:
        csv.writer(file).writerows([("height", "splash"), *results])
    for height, splash in results:
        print(f"a dam of {height:.2f} m splashes up to {splash:.2f} m")
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        return
    plt.plot(*zip(*results), "o-")
    plt.xlabel("height of the dam [m]")
    plt.ylabel("splash at the wall [m]")
    plt.savefig("sweep.png", dpi=120)


main()
