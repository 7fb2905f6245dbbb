#!/usr/bin/python3
"""A minute of violent sloshing at CFL 25 and more: stable, and no water lost; and what CIP saves of a swing."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case
from tarn_state import read_stats

PERIOD = 1.2  # s
# The flow is chaotic: another strength of the shaking, in m/s2, is another sample.
SAMPLES = (20.0, 20.2, 19.6, 20.4)


def shaken(strength):
    return "[" + ", ".join(f"{{t = {t:.1f}, v = [{strength * np.sin(2 * np.pi * t / PERIOD):.4f}, -9.81]}}"
                           for t in np.arange(0, 60.05, 0.1)) + "]"


case = Case(__file__)
figure, axes = case.plot(width=9, columns=2)
for interface in ("smeared", "sharp"):
    for corrected in (False, True):
        drift, iterations, late, lost, cfl = [], [], [], [], []
        for strength in SAMPLES[:1] if corrected else SAMPLES:
            out = case.run(f"{interface}_{corrected}_{strength}", {
                "method.interface": f'"{interface}"', "surface.volume_correction": str(corrected).lower(),
                "domain.gravity": shaken(strength)})
            stats = read_stats(out)
            change = stats["volume"] / stats["volume"][0] - 1
            drift.append(np.abs(change).max())
            iterations.append(stats["pressure_iterations"].max())
            cfl.append(stats["cfl"].max())
            late.append(abs(stats["time"][-1] - 60))
            given = stats["volume_droplets"] + stats["volume_bubbles"]
            lost.append(np.abs(given - stats["volume_exchanged"]).max())
            if strength == SAMPLES[0] and not corrected:
                axes[0].plot(stats["time"], 100 * change, linewidth=0.6, label=interface)
        name = f"{interface}, " + ("with compensation" if corrected else f"without, {len(SAMPLES)} samples")
        case.at_most(f"change of volume, {name}", max(drift), 1e-4 if corrected else 0.02)
        case.at_most(f"iterations of the pressure, {name}", max(iterations), 12)
        case.at_most(f"25 over the greatest CFL, {name}", 25 / min(cfl), 1)
        case.at_most(f"time of the end less 60 s, {name}", max(late), 1e-6)
        case.at_most(f"volume of fragments not accounted for, {name}", max(lost), 1e-12)
axes[0].set(xlabel="t [s]", ylabel="change of volume without compensation [%]")
axes[0].legend()

# A tank 1 m long and 0.375 m deep, tilted by 0.1: omega^2 = g k tanh(k d), k = pi, makes a period of 1.244 s.
left = {}
for name in ("cip", "linear"):
    out = case.run(name, {"method.advection": f'"{name}"', "surface.advection": f'"{name}"', "time.frames": 400},
                   scene=case.folder.parent.parent / "scenes/cip_against_linear_2d.toml",
                   extra=["--set", "output.preview=false"])
    stats = read_stats(out)
    level = 0.5 * 1000 * 9.81 * stats["volume"] ** 2  # of level water
    energy = stats["kinetic_energy"] + stats["potential_energy"] - level
    energy /= energy[0]
    last = (stats["time"] > 11.2) & (stats["time"] < 12.44)
    left[name] = energy[last].mean()
    axes[1].semilogy(stats["time"], np.maximum(energy, 1e-5), linewidth=0.8, label=name)
print(f"violent_sloshing: energy left after ten periods: CIP {left['cip']:.3g}, linear {left['linear']:.3g}")
case.at_most("three times what linear leaves over what CIP leaves", 3 * left["linear"] / left["cip"], 1)
axes[1].set(xlabel="t [s]", ylabel="energy, of the first")
axes[1].legend()
case.finish(figure)
