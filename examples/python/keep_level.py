#!/usr/bin/python3
"""A controller: a source fills a basin all the time, and water is taken away at the bottom so that its level stays where it is wanted.

    PYTHONPATH=build/python python3 examples/python/keep_level.py [--quick]
"""

import sys

import numpy as np

import tarn

WANTED = 0.35  # m


def level_of(sim):
    """The water in the basin as a height, from the volume under phi = 0."""
    wet = np.clip(0.5 - sim.phi / sim.cell_size, 0, 1)
    return wet.sum() * sim.cell_size**2 / 1.0


def main():
    quick = "--quick" in sys.argv
    scene = tarn.Scene(domain={"size": [1, 0.75], "cells": 32 if quick else 64},
                       water=[{"shape": "box", "min": [-1, -1], "max": [2, WANTED]}],
                       source=[{"shape": "box", "min": [0.05, 0.6], "max": [0.15, 0.66], "rate": 0.05}],
                       method={"phases": "water-air", "surface": "level-set"})
    sim = tarn.Simulation(scene)
    x, y = np.meshgrid(*(sim.cell_size * (np.arange(n) + 0.5) for n in sim.cells), indexing="ij")
    drain = np.hypot(x - 0.9, y - 0.06)

    def control(s):
        # Proportional: the hole is as wide as the level is too high.
        too_high = level_of(s) - WANTED
        if too_high > 0.002:
            radius = min(0.06, np.sqrt(too_high / np.pi))
            s.phi[:] = np.maximum(s.phi, radius - drain)
            s.changed()

    levels = []
    for frame in sim.frames(10 if quick else 90, control):
        levels.append(level_of(sim))
        if frame % 10 == 0:
            print(f"{sim.time:5.2f} s: level {levels[-1]:.3f} m")
    assert abs(levels[-1] - WANTED) < 0.03, levels[-1]


main()
