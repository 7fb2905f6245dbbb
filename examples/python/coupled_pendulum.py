#!/usr/bin/python3
"""Coupling to another code: a pendulum, integrated here, swings a tank whose water pushes back through its centre of mass.

    PYTHONPATH=build/python python3 examples/python/coupled_pendulum.py [--quick]
"""

import math
import sys

import numpy as np

import tarn


def main():
    quick = "--quick" in sys.argv
    scene = tarn.Scene(domain={"size": [1, 0.75], "cells": 32 if quick else 64},
                       water=[{"shape": "box", "min": [-1, -1], "max": [2, 0.3]}],
                       method={"phases": "water-air", "surface": "level-set"})
    sim = tarn.Simulation(scene)
    x = (sim.cell_size * (np.arange(sim.cells[0]) + 0.5))[:, None]
    length, angle, rate = 4.0, 0.15, 0.0  # m, radians, radians per second
    share = 0.3                           # the water's part of the mass
    for frame in sim.frames(8 if quick else 120):
        # Seen from the tank gravity turns with it; the water's centre of mass, off the middle, pulls the pendulum to its side.
        dt = sim.frame_seconds
        wet = sim.phi < 0
        off = float((x * wet).sum() / wet.sum()) - 0.5
        rate -= dt * 9.81 / length * (math.sin(angle) + share * off / length)
        angle += dt * rate
        push = (-9.81 * math.sin(angle) * dt, 9.81 * (1 - math.cos(angle)) * dt)
        for axis in range(2):
            sim.velocity[axis][:] += np.float32(push[axis])
        sim.changed()
        if frame % 10 == 0:
            print(f"{sim.time:5.2f} s: {math.degrees(angle):+6.2f} degrees, the water is {off:+.3f} m off")


main()
