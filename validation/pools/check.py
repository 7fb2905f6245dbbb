#!/usr/bin/python3
"""Still water is still: random pools, half of them with solids that pierce the surface.

    ./tarn validate pools                                300 pools
    validation/pools/check.py --seeds 0..49 --jobs 1     some of them
    validation/pools/check.py --print 17                 the scene file of a seed

Those that move are written to --out, out/pools by default.
"""

import argparse
import concurrent.futures
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "validation/soak")]
from check import seeds_of
from random_scene import Scene, norm, round_off
from tarn_state import read_stats

POOLS, STEPS = 300, 100
REST = 1e-4  # of sqrt(g d): float's digits of the hydrostatic pressure, over a hundred steps


class Pool:
    """A pool whose surface is a plane across gravity. Every second seed has a shore."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.scene = scene = Scene(seed, 3 if self.rng.random() < 0.25 else 2)
        D = scene.dimension
        length = self.spread(0.1, 30)
        size = [round_off(length * self.uniform(0.5, 1)) for _ in range(D)]
        size[int(D * self.rng.random())] = round_off(length)
        cells = int(self.uniform(24, 97)) if D == 2 else int(self.uniform(16, 29))
        scene.tables["domain"] = {"size": size, "cells": cells}
        g = 9.81 if self.rng.random() < 0.6 else self.spread(1, 30)
        up = [0.0, 1.0, 0.0][:D]
        if self.rng.random() < 0.25:
            up = [self.uniform(-0.4, 0.4) if a != 1 else 1.0 for a in range(D)]
        up = [x / norm(up) for x in up]
        scene.set("domain", "gravity", [round_off(-g * x) for x in up])
        # Through this point, the surface leaves some of the domain dry and some of it wet.
        middle = [0.5 * s for s in size]
        middle[1] = round_off(self.uniform(0.3, 0.65) * size[1])
        scene.lists["water"].append({"shape": "plane", "point": middle, "normal": [-x / g for x in scene.get("domain", "gravity")]})
        self.size, self.up, self.middle, self.h = size, up, middle, max(size) / cells
        self.depth = middle[1]
        self.kind = "no shore"
        if seed % 2:
            self.add_shore()
        elif self.rng.random() < 0.6:
            self.add_submerged()
        # A step as long as a wave takes for two cells, one a frame.
        scene.tables["time"] = {"frames": STEPS, "rate": round_off(math.sqrt(g * self.depth) / (2 * self.h))}
        scene.tables["output"] = {"preview": False, "surface": "none", "particles": False}
        self.speed = math.sqrt(g * self.depth)

    def uniform(self, a, b):
        return a + (b - a) * self.rng.random()

    def spread(self, a, b):
        return a * (b / a) ** self.rng.random()

    def at_surface(self):
        """A point of the surface, well inside the domain."""
        x = [self.uniform(0.25, 0.75) * s for s in self.size]
        x[1] = self.middle[1] - sum(u * (a - m) for b, (u, a, m) in enumerate(zip(self.up, x, self.middle)) if b != 1) / self.up[1]
        return [round_off(v) for v in x]

    def add_shore(self):
        D, kind = self.scene.dimension, self.rng.random()
        x = self.at_surface()
        solids = self.scene.lists["solid"]
        if kind < 0.5:  # a beach, gentle or steep
            angle, way = math.radians(self.uniform(4, 80)), self.uniform(0, 2 * math.pi)
            side = [math.cos(way), 0.0, math.sin(way)] if D == 3 else [self.pick((1.0, -1.0)), 0.0]
            normal = [math.sin(angle) * s for s in side]
            normal[1] = math.cos(angle)
            solids.append({"shape": "plane", "point": x, "normal": [round_off(v) for v in normal]})
            self.kind = f"beach of {math.degrees(angle):.0f} degrees"
        elif kind < 0.65:  # a ball or a disc
            r = round_off(max(self.uniform(0.1, 0.25) * min(self.size), 3 * self.h))
            x[1] = round_off(x[1] + self.uniform(-0.6, 0.6) * r)
            solids.append({"shape": "sphere", "center": x, "radius": r})
            self.kind = "ball"
        else:  # a slanted block: a shore on one side, an overhang on the other
            half = max(self.uniform(0.05, 0.15) * min(self.size), 3 * self.h)
            turn = self.uniform(-75, 75)
            block = {"shape": "box", "min": [-half, -3 * max(self.size)] + [-half] * (D - 2), "max": [half, 3 * max(self.size)] + [half] * (D - 2),
                     "translate": x, "rotate": round_off(turn) if D == 2 else [round_off(self.uniform(-60, 60)), round_off(self.uniform(-90, 90)), round_off(turn)]}
            if self.rng.random() < 0.3:
                block["max"][1] = round_off(0.2 * self.size[1])
            block["min"], block["max"] = [round_off(v) for v in block["min"]], [round_off(v) for v in block["max"]]
            solids.append(block)
            self.kind = f"block turned by {turn:.0f} degrees"

    def add_submerged(self):
        x = self.at_surface()
        r = self.uniform(0.1, 0.2) * min(self.size)
        x[1] = round_off(x[1] - r / self.up[1] - 3 * self.h - 0.1 * self.size[1])
        self.kind = "ball below"
        self.scene.lists["solid"].append({"shape": "sphere", "center": x, "radius": round_off(r)})

    def pick(self, values):
        return values[int(self.rng.random() * len(values))]


def run_pool(seed, program, settings):
    """The greatest speed in the first hundred steps over sqrt(g d), infinite where the run stopped; and the pool."""
    pool = Pool(seed)
    with tempfile.TemporaryDirectory(prefix="tarn-pools-") as folder:
        file, out = pathlib.Path(folder) / "scene.toml", pathlib.Path(folder) / "out"
        file.write_text(pool.scene.text())
        command = [program, "run", str(file), "--out", str(out), "--quiet", "--threads", "1"]
        for setting in settings:
            command += ["--set", setting]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"pools: {seed}: exit {done.returncode}: {(done.stderr or done.stdout).strip()[:200]}")
            return math.inf, pool
        return float(read_stats(out)["max_speed"][:STEPS + 1].max()) / pool.speed, pool


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default=str(ROOT / "build/bin/tarn"), help="the built program")
    parser.add_argument("--seeds", default=f"0..{POOLS - 1}", help=f"[0..{POOLS - 1}]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="pools at a time, one thread each [cores]")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting for every pool")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/pools"), help="where pools that move go")
    parser.add_argument("--print", type=int, metavar="SEED", help="write the scene of a seed, and do not run it")
    given = parser.parse_args()
    if given.print is not None:
        print(Pool(given.print).scene.text(), end="")
        return 0
    seeds, found = list(seeds_of(given.seeds)), {"shore": [], "no shore": []}
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for seed, (speed, what) in zip(seeds, pool.map(lambda s: run_pool(s, given.program, given.set), seeds)):
            found["shore" if seed % 2 else "no shore"].append((speed, seed))
            if speed > REST or len(seeds) <= 10:
                line = f"{seed}: {speed:.2g} sqrt(g d), {what.kind}, {what.scene.dimension}D, {what.scene.tables['domain']['cells']} cells"
                print(f"pools: {line} {'FAIL' if speed > REST else 'PASS'}", flush=True)
            if speed > REST:
                given.out.mkdir(parents=True, exist_ok=True)
                (given.out / f"pool_{seed}.toml").write_text(f"# {line}\n{what.scene.text()}")
    bad = 0
    for name, speeds in found.items():
        moving = [seed for speed, seed in speeds if speed > REST]
        bad += len(moving)
        if speeds:
            middle = float(np.median([speed for speed, _ in speeds]))
            print(f"pools: {name}: {len(moving)} of {len(speeds)} move, the median {middle:.2g}, the most {max(speeds)[0]:.2g} sqrt(g d) "
                  f"(seed {max(speeds)[1]}) {'FAIL' if moving else 'PASS'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
