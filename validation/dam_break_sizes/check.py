#!/usr/bin/python3
"""The dam break at many numbers of cells: as fast as it may be, and no more steps than in proportion to the cells.

    ./tarn validate dam_break_sizes                                              64 to 256 cells, and a slab of 384
    validation/dam_break_sizes/check.py --sizes 384,512 --backend cuda           on a GPU
"""

import argparse
import math
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case
from tarn_state import read_stats

# 2.5 sqrt(2 g H), H the height of the domain: what the sheet that meets the far wall may reach.
SPEED = 2.5 * math.sqrt(2 * 9.81 * 1.0)
SLAB = {"domain.cells": 384, "domain.size": [1, 1, 0.042], "water.0.max": [0.4, 0.6, 0.042]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="the built program")
    parser.add_argument("--sizes", default="64,128,192,256,slab", help="cells along the longest side; slab: 384, 16 deep")
    parser.add_argument("--frames", type=int, default=90)
    parser.add_argument("--threads", type=int, help="[cores]")
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting for every run")
    given = parser.parse_args()
    case = Case(__file__, given.program)
    extra = ["--set", "output.preview=false", "--set", "output.surface=none", "--set", "output.particles=false",
             "--backend", given.backend, "--frames", str(given.frames)]
    if given.threads:
        extra += ["--threads", str(given.threads)]
    for setting in given.set:
        extra += ["--set", setting]
    first = None
    for size in given.sizes.split(","):
        name = "a slab of 384 cells" if size == "slab" else f"{size} cells"
        settings = SLAB if size == "slab" else {"domain.cells": int(size)}
        try:
            out = case.run(size, settings, scene=case.folder.parent.parent / "scenes/dam_break.toml", extra=extra)
        except subprocess.CalledProcessError as failure:
            case.at_most(f"{name}, exit code", failure.returncode, 0)
            continue
        stats = read_stats(out)
        case.at_most(f"{name}, fastest water, m/s", stats["max_speed"].max(), round(SPEED, 2))
        off = abs(stats["volume"] / stats["volume_expected"] - 1)
        case.at_most(f"{name}, volume off at most", off.max(), 0.005)
        steps = (len(stats["step"]) - 1) / settings["domain.cells"]
        first = first or steps
        case.at_most(f"{name}, steps a cell over those of the smallest", steps / first, 1)
    case.finish()


if __name__ == "__main__":
    main()
