#!/usr/bin/python3
"""Every scene at other numbers of cells than its own: it runs, nothing is faster than physics allows, and the water is kept.

    ./tarn validate resolution                                                     what is small enough for a processor
    validation/resolution/check.py --scenes dam_break_2d,ball_splash --factors 0.5,2
    validation/resolution/check.py --dimension 2 --threads 1 --seconds 600         two dimensions, ten minutes of them
    validation/resolution/check.py --backend cuda --max-cells inf                  all of it, on a GPU

Runs that a limit leaves out are named, and prove nothing.
"""

import argparse
import math
import pathlib
import subprocess
import sys
import time
import tomllib

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from bounds import fastest_expected, only_gravity_works
from case import Case
from tarn_state import read_stats

FACTORS = (0.5, 1, 1.5, 2, 3)
FACTORS_2D = FACTORS + (4,)
# Water, and air beside it, over what falls, is thrown or pushed: where a cavity closes or sheets meet there is faster water.
SPEED, SPEED_OF_AIR = 2.5, 6
VOLUME, VOLUME_WITH_AIR, VOLUME_CARRIED = 0.005, 1e-4, 0.01
ENERGY = 1.0


def cells_in_all(scene, cells):
    h = max(scene["domain"]["size"]) / cells
    return math.prod(max(1, round(s / h)) for s in scene["domain"]["size"])


def energy_over_start(scene, stats, h):
    """Kinetic and potential energy at its largest, over its start; it counts from all water in the lowest corner. The centre of the
    water in a cell is taken for the cell's, which is wrong by h^2 / 8 at most for a level surface, and not judged."""
    size = np.array(scene["domain"]["size"])
    gravity = np.array(scene["domain"].get("gravity", [0, -9.81, 0])[:len(size)], float)
    density = scene.get("fluid", {}).get("density", 1000)
    energy = stats["kinetic_energy"] + stats["potential_energy"] + density * np.maximum(gravity * size, 0).sum() * stats["volume"]
    unsure = density * np.linalg.norm(gravity) * h ** 2 / 8 * np.prod(size) / size[1]
    return (energy - unsure).max() / energy[0]


def judge(case, name, scene, stats, cells):
    with_air = scene.get("method", {}).get("phases") == "water-air"
    fastest = fastest_expected(scene)
    case.at_most(f"{name}, frames missing", scene["time"]["frames"] - stats["frame"][-1], 0)
    if scene.get("flow"):
        return  # the velocity is given; what becomes of the shape is in interface_advection
    case.at_most(f"{name}, fastest water over what falls or is thrown", stats["max_speed"].max() / fastest, SPEED)
    if "max_speed_air" in stats:
        case.at_most(f"{name}, fastest air near water over the same", stats["max_speed_air"].max() / fastest, SPEED_OF_AIR)
    surface = scene.get("surface", {})
    bound = VOLUME if not with_air else VOLUME_WITH_AIR if surface.get("volume_correction", True) else VOLUME_CARRIED
    most = np.maximum.accumulate(stats["volume_expected"])
    # A source that has just begun has brought less than a cell can tell.
    known = most > 0.01 * most[-1]
    off = np.abs(stats["volume"] - stats["volume_expected"])[known] / most[known]
    case.at_most(f"{name}, volume off", off.max(), bound)
    if only_gravity_works(scene):
        case.at_most(f"{name}, energy over its start", energy_over_start(scene, stats, max(scene["domain"]["size"]) / cells), ENERGY)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="the built program")
    parser.add_argument("--scenes", help="names, with commas [all]")
    parser.add_argument("--phases", choices=("water", "water-air", "all"), default="all", help="of the scenes to run [all]")
    parser.add_argument("--dimension", type=int, choices=(2, 3), help="of the scenes to run [both]")
    parser.add_argument("--factors", help="of each scene's own cells [0.5,1,1.5,2,3; in 2D 4 as well]")
    parser.add_argument("--threads", type=int, help="[cores]")
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--max-cells", type=float, default=4e6, help="leave out runs on more cells in all [4e6]")
    parser.add_argument("--seconds", type=float, default=math.inf, help="start no run after so long [none]")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting for every run")
    given = parser.parse_args()
    case = Case(__file__, given.program)
    started = time.monotonic()
    extra = ["--set", "output.preview=false", "--set", "output.surface=none", "--set", "output.particles=false",
             "--backend", given.backend]
    if given.threads:
        extra += ["--threads", str(given.threads)]
    for setting in given.set:
        extra += ["--set", setting]
    runs = []
    for file in sorted((case.folder.parent.parent / "scenes").glob("*.toml")):
        scene = tomllib.loads(file.read_text())
        phases = scene.get("method", {}).get("phases", "water")
        dimension = len(scene["domain"]["size"])
        if given.scenes and file.stem not in given.scenes.split(","):
            continue
        if given.phases not in ("all", phases) or given.dimension not in (None, dimension):
            continue
        factors = [float(f) for f in given.factors.split(",")] if given.factors else FACTORS_2D if dimension == 2 else FACTORS
        for factor in factors:
            for interface in ("smeared", "sharp") if phases == "water-air" else (None,):
                cells = round(factor * scene["domain"].get("cells", 64))
                runs.append((cells_in_all(scene, cells), file, scene, factor, cells, interface))
    # The small ones first: they tell most in the least time.
    for total, file, scene, factor, cells, interface in sorted(runs, key=lambda r: r[0]):
        name = f"{file.stem} x {factor:g}" + (f" {interface}" if interface else "")
        if total > given.max_cells or time.monotonic() - started > given.seconds:
            print(f"resolution: {name}: left out, {total / 1e6:.1f} million cells", flush=True)
            continue
        settings = {"domain.cells": cells}
        if interface:
            settings["method.interface"] = interface
        began = time.monotonic()
        try:
            out = case.run(name.replace(" ", "_"), settings, scene=file, extra=extra)
        except subprocess.CalledProcessError as failure:
            case.at_most(f"{name}, exit code", failure.returncode, 0)
            continue
        stats = read_stats(out)
        judge(case, name, scene, stats, cells)
        print(f"resolution: {name}: {len(stats['step']) - 1} steps in {time.monotonic() - began:.0f} s", flush=True)
    case.finish()


if __name__ == "__main__":
    main()
