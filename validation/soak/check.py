#!/usr/bin/python3
"""Random scenes run to their end, and keep their speed, energy and volume within what physics allows.

    ./tarn validate soak                                 500 scenes of water
    validation/soak/check.py --seeds 17                  one of them, and what it measured
    validation/soak/check.py --seeds 100..199 --jobs 2   a range
    validation/soak/check.py --phases --seeds 0..299     water and air
    validation/soak/check.py --print 17                  the scene file of a seed
    validation/soak/check.py --reduce 17                 the smallest scene that fails as this one does

Scenes that fail are written to --out, out/soak by default, with what they measured as a comment at their top.
"""

import argparse
import collections
import concurrent.futures
import copy
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))
import random_scene
from random_scene import inflow_expected, keeps_energy, speed_bound, tags
from tarn_state import read_stats

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCENES = 500
# Of every run. Speed: over that of what falls, is thrown, pushed or comes in; cavities that close and sheets that meet throw
# water faster than that, 2.5 times in the dam break. Energy: over its start. Volume and inflow: of the volume at its largest.
SPEED, ENERGY, VOLUME, VOLUME_UNCORRECTED, VOLUME_WITH_AIR = 3.0, 0.02, 0.01, 0.05, 0.001
SECONDS = 60  # of processor time; a run that takes thirty times what it should takes ever smaller steps
# From the gravest on.
KINDS = ("input", "exit", "time", "speed", "energy", "inflow", "negative", "volume", "uncorrected")


class Result:
    """What one run measured, and in which ways it failed."""

    def __init__(self, scene):
        self.scene = scene
        self.exit = 0
        self.seconds = self.speed = self.energy = self.volume = self.volume_end = self.inflow = 0.0
        self.steps = 0
        self.failed = []
        self.message = ""

    @property
    def uncorrected(self):
        return self.volume

    def line(self):
        measured = f"speed {self.speed:.2f}, energy {100 * self.energy:+.1f} %, volume {100 * self.volume:.2f} % (end " \
                   f"{100 * self.volume_end:.2f} %)"
        if self.inflow:
            measured += f", inflow {100 * self.inflow:.2f} %"
        return f"{self.scene.seed}: {'+'.join(self.failed) or 'good'}: exit {self.exit}, {measured}, {self.steps} steps in " \
               f"{self.seconds:.1f} s [{', '.join(tags(self.scene))}]" + (f" {self.message}" if self.message else "")


def run_scene(scene, program, settings=()):
    result = Result(scene)
    with tempfile.TemporaryDirectory(prefix="tarn-soak-") as folder:
        file = pathlib.Path(folder) / "scene.toml"
        file.write_text(scene.text())
        out = pathlib.Path(folder) / "out"
        command = [program, "run", str(file), "--out", str(out), "--quiet", "--threads", "1"]
        for setting in settings:
            command += ["--set", setting]
        started = time.monotonic()
        # Of processor time, so that other programs do not count.
        limited = ["/bin/sh", "-c", f'ulimit -t {SECONDS}; exec "$@"', "sh"]
        done = subprocess.run(limited + command, capture_output=True, text=True)
        result.exit = done.returncode
        if result.exit in (-signal.SIGXCPU, -signal.SIGKILL):
            result.failed.append("time")
        elif result.exit != 0:
            words = (done.stderr or done.stdout).strip().splitlines()
            result.message = next((line for line in words if "failed" in line or "error" in line), words[0] if words else "")[:160]
            result.failed.append("input" if result.exit == 2 else "exit")
        result.seconds = time.monotonic() - started
        if result.exit != 2 and (out / "stats.csv").exists():
            judge(result, read_stats(out))
    return result


def judge(result, stats):
    scene = result.scene
    finite = np.isfinite(stats["max_speed"]) & np.isfinite(stats["volume"])
    stats = {name: values[finite] for name, values in stats.items()}
    if len(stats["time"]) == 0:
        return
    result.steps = len(stats["time"]) - 1
    result.speed = float(stats["max_speed"].max()) / speed_bound(scene)
    most = np.maximum(np.maximum.accumulate(np.abs(stats["volume_expected"])), 1e-12)
    # Water that has only begun to come in is less than a cell knows.
    least = 4 ** scene.dimension * scene.h ** scene.dimension
    off = np.abs(stats["volume"] - stats["volume_expected"]) / np.maximum(most, least)
    result.volume, result.volume_end = float(off.max()), float(off[-1])
    corrected = scene.get("surface", "volume_correction", True)
    with_air = scene.get("method", "phases") == "water-air"
    bound = VOLUME_UNCORRECTED if not corrected else VOLUME_WITH_AIR if with_air else VOLUME
    if not corrected and scene.get("method", "surface", "particle-level-set") != "particle-level-set":
        bound = np.inf  # these are there to show what is lost without particles on both sides, as in [EMF02], figure 2
    if keeps_energy(scene):
        result.energy = energy_gain(scene, stats, corrected)
    brought = inflow_expected(scene, float(stats["time"][-1]))
    if brought is not None and scene.lists["source"]:
        should = stats["volume"][0] + brought
        result.inflow = float(abs(stats["volume"][-1] - should) / max(should, least))
    if result.speed > SPEED:
        result.failed.append("speed")
    if result.energy > ENERGY:
        result.failed.append("energy")
    if result.volume > bound:
        result.failed.append("volume" if corrected else "uncorrected")
    if result.inflow > bound:
        result.failed.append("inflow")
    if stats["volume_expected"].min() < 0:
        result.failed.append("negative")


def energy_gain(scene, stats, corrected):
    """Kinetic and potential energy above that of all water in the lowest corner, over its start. Spray's is not counted, so that landing
    drops bring some back, but never more than there was."""
    gravity = np.array(scene.get("domain", "gravity", [0.0, -9.81, 0.0][:scene.dimension]))
    size = np.array(scene.size)
    density = scene.get("fluid", "density", 1000.0)
    lowest = -np.maximum(gravity * size, 0).sum()  # of potential, per mass
    energy = stats["kinetic_energy"] + stats["potential_energy"] - density * lowest * stats["volume"]
    if not corrected:
        # What the volume gained is judged as volume.
        energy = energy / np.maximum(1, stats["volume"] / stats["volume"][0]) ** 2
    # The centre of the water in a cell is taken for the cell's, which is wrong by h^2 / 8 at most for a level surface.
    unsure = density * np.linalg.norm(gravity) * scene.h ** 2 / 8 * np.prod(size) / size.min()
    return float((energy - unsure).max() / energy[0] - 1) if energy[0] > 0 else 0.0


def one(arguments):
    seed, phases, work, program, settings = arguments
    return run_scene(random_scene.random_scene(seed, phases, work), program, settings)


def simpler(scene):
    """Scenes with one thing less."""
    for name, entries in scene.lists.items():
        for i in range(len(entries) - 1, -1, -1):
            less = copy.deepcopy(scene)
            del less.lists[name][i]
            if i + 1 < len(entries) and entries[i + 1].get("subtract") and not entries[i].get("subtract") and name == "solid":
                del less.lists[name][i]
            if less.lists["water"] or less.lists["source"]:
                yield f"without {name} {i}", less
        for i, entry in enumerate(entries):
            if name == "water" and "velocity" in entry:
                less = copy.deepcopy(scene)
                del less.lists[name][i]["velocity"]
                yield f"water {i} at rest", less
            if "_speed" in entry and name == "solid":
                less = copy.deepcopy(scene)
                for key in ("translate", "rotate"):
                    if key in entry:
                        less.lists[name][i][key] = random_scene.at(entry[key], 0.0)
                for key in ("_speed", "_block", "_path", "_reach"):
                    less.lists[name][i].pop(key, None)
                yield f"solid {i} fixed", less
    for name in ("wind", "fluid", "domain.walls", "pressure"):
        if name in scene.tables:
            less = copy.deepcopy(scene)
            del less.tables[name]
            yield f"without [{name}]", less
    for name, key in (("domain", "gravity"), ("method", "advection"), ("method", "surface"), ("method", "interface"),
                      ("surface", "advection"), ("surface", "distance"), ("surface", "particles_per_cell"), ("surface", "carry_volume"),
                      ("surface", "volume_correction"), ("surface", "spray"), ("time", "cfl")):
        if key in scene.tables.get(name, {}):
            less = copy.deepcopy(scene)
            del less.tables[name][key]
            yield f"{name}.{key} as by default", less


def reduced(result, program, settings, say=lambda text: None):
    """The scene with everything left out without which it fails all the same, in its gravest way, and the steps that led there."""
    kind, steps, again = min(result.failed, key=KINDS.index), [], True
    first = getattr(result, kind, 0)
    while again:
        again = False
        for what, less in simpler(result.scene):
            tried = run_scene(less, program, settings)
            # Not so that little is left of what was wrong.
            if kind in tried.failed and getattr(tried, kind, 0) >= 0.3 * first:
                result, again = tried, True
                steps.append(what)
                say(f"  {what}: {'+'.join(tried.failed)} {getattr(tried, kind, 0):.3g}")
                break
    return result, steps


def save(result, folder, note=""):
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{'_'.join(result.failed) or 'good'}_{result.scene.seed}{'_air' if result.scene.get('method', 'phases') else ''}{note}.toml"
    (folder / name).write_text(f"# {result.line()}\n" + result.scene.text())
    return folder / name


def seeds_of(text):
    for part in text.split(","):
        low, _, high = part.partition("..")
        yield from range(int(low), int(high or low) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default=str(ROOT / "build/bin/tarn"), help="the built program")
    parser.add_argument("--seeds", help=f"such as 3 or 0..99 or 1,5,7..9 [0..{SCENES - 1}]")
    parser.add_argument("--phases", action="store_true", help="water and air")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="scenes at a time, one thread each [cores]")
    parser.add_argument("--quick", action="store_true", help="30 scenes of a third of the work, for the tests")
    parser.add_argument("--judge", default=",".join(KINDS), help=f"which ways to fail count [{','.join(KINDS)}]")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting for every scene")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/soak"), help="where scenes that fail go")
    parser.add_argument("--print", type=int, metavar="SEED", help="write the scene of a seed, and do not run it")
    parser.add_argument("--reduce", metavar="SEEDS", help="look for the smallest scenes that fail as these do")
    given = parser.parse_args()
    work = random_scene.WORK * (0.3 if given.quick else 1.0)
    if given.print is not None:
        print(random_scene.random_scene(given.print, given.phases, work).text(), end="")
        return 0
    if given.reduce:
        for seed in seeds_of(given.reduce):
            result = one((seed, given.phases, work, given.program, given.set))
            print(result.line(), flush=True)
            if result.failed:
                least, steps = reduced(result, given.program, given.set, lambda text: print(text, flush=True))
                print(f"{least.line()}\n{save(least, given.out, '_reduced')}", flush=True)
        return 0

    seeds = list(seeds_of(given.seeds or f"0..{29 if given.quick else SCENES - 1}"))
    counted = set(given.judge.split(","))
    results, bad = [], []
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        runs = [pool.submit(one, (seed, given.phases, work, given.program, given.set)) for seed in seeds]
        for run in concurrent.futures.as_completed(runs):
            result = run.result()
            results.append(result)
            result.failed = [kind for kind in result.failed if kind in counted]
            if result.failed:
                bad.append(result)
                print(f"soak: {result.line()} FAIL {save(result, given.out)}", flush=True)
            elif len(seeds) <= 10:
                print(f"soak: {result.line()}", flush=True)
    report(results, bad)
    return 1 if bad else 0


def report(results, bad):
    count = collections.Counter(kind for result in bad for kind in result.failed)
    without = sum(not r.scene.get("surface", "volume_correction", True) for r in results)
    judged = {"volume": len(results) - without, "uncorrected": without, "energy": sum(keeps_energy(r.scene) for r in results),
              "inflow": sum(inflow_expected(r.scene, 1.0) is not None and bool(r.scene.lists["source"]) for r in results)}
    for kind in KINDS:
        failed = sorted(r.scene.seed for r in bad if kind in r.failed)
        print(f"soak: {kind}: {count[kind]} of {judged.get(kind, len(results))} fail"
              f"{': ' + ', '.join(map(str, failed)) if failed else ''} {'FAIL' if failed else 'PASS'}")
    for name in ("speed", "energy", "volume", "inflow", "seconds"):
        worst = sorted(results, key=lambda r: getattr(r, name), reverse=True)[:3]
        print(f"soak: worst {name}: " + ", ".join(f"{getattr(r, name):.3g} (seed {r.scene.seed})" for r in worst))
    print(f"soak: {len(results) - len(bad)} of {len(results)} good, {sum(r.seconds for r in results):.0f} s of runs")


if __name__ == "__main__":
    sys.exit(main())
