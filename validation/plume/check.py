#!/usr/bin/python3
"""How the flux of a turbulent plume grows with height."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case

# Morton, Taylor, Turner 1956: Q = C (z - z0)^(5/3), C = 6/5 alpha (9/10 alpha)^(1/3) pi^(2/3) B^(1/3), B the flux of buoyancy.
POWER = 5 / 3
FIRST = 36  # the frame from which the plume is developed
LOW, HIGH = 0.4, 1.2  # m: where the plume is turbulent all through and its fastest air slows down; and below the top
ALPHA = 0.13  # entrainment; measured between 0.10 and 0.16 (Carazzo, Kaminski, Tait 2006, top-hat profiles)

case = Case(__file__)
out = case.run()
w = warmth = 0
frames = sorted((out / "volume").glob("*.npz"))[FIRST:]
for frame in frames:
    values = np.load(frame)
    h = float(values["h"])
    w = w + values["velocity"][..., 1] / len(frames)
    warmth = warmth + (values["temperature"] - 293) / len(frames)
z = (np.arange(w.shape[1]) + 0.5) * h
# Upwards where it is a fiftieth of the fastest at that height: what flows in from the sides is not the plume's.
rising = w > 0.02 * w.max(axis=(0, 2), keepdims=True)
flux = np.sum(w * rising, axis=(0, 2)) * h * h
buoyancy = 9.81 / 293 * np.sum(w * warmth, axis=(0, 2)) * h * h

seen = (z > LOW) & (z < HIGH)
slope, offset = np.polyfit(z[seen], flux[seen] ** (1 / POWER), 1)
origin = -offset / slope
law = (slope * (z - origin)).clip(0) ** POWER
power = np.polyfit(np.log(z[seen] - origin), np.log(flux[seen]), 1)[0]
case.expect("power of height that the flux grows with", power, POWER, 0.15)
case.at_most("most that the flux is off that law", np.max(np.abs(flux[seen] / law[seen] - 1)), 0.15)
unit = 6 / 5 * 0.9 ** (1 / 3) * np.pi ** (2 / 3) * np.mean(buoyancy[seen]) ** (1 / 3)
case.expect("entrainment", (slope**POWER / unit) ** 0.75, ALPHA, 0.03, relative=False)

figure, axes = case.plot()
axes.plot(z, flux, label=f"tarn, {' x '.join(str(n) for n in w.shape)}")
axes.plot(z[seen], law[seen], "--", color="0.4", label=f"(z + {-origin:.2f} m)^(5/3)")
axes.set(xlabel="z [m]", ylabel="flux [m³/s]")
axes.legend()
case.finish(figure)
