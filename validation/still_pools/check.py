#!/usr/bin/python3
"""Pools at rest, at random: does still water stay still, whatever pierces its surface?"""

import math
import pathlib
import random
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case
from tarn_state import read_stats

G, STEPS, BOUND = 9.81, 100, 1e-4
POOLS = {2: 220, 3: 80}


def numbers(values):
    return "[" + ", ".join(f"{v:.6g}" for v in values) + "]"


def solid(chance, kind, dim, level):
    """A solid as TOML, and the angle at which a plane meets the surface: from 0, flat, to 180, lying on the water."""
    at = [chance.uniform(0.3, 0.7), level, chance.uniform(0.3, 0.7)][:dim]
    if kind in ("beach", "overhang"):
        angle = chance.uniform(5, 85) if kind == "beach" else chance.uniform(95, 170)
        towards = chance.uniform(0, 2 * math.pi) if dim == 3 else chance.choice((0, math.pi))
        a = math.radians(angle)
        normal = [-math.sin(a) * math.cos(towards), math.cos(a), -math.sin(a) * math.sin(towards)][:dim]
        return f'shape = "plane"\npoint = {numbers(at)}\nnormal = {numbers(normal)}\n', angle
    if kind == "floor":
        slope = math.tan(math.radians(chance.uniform(0, 15)))
        at[1] = level - 0.1 - slope
        return f'shape = "plane"\npoint = {numbers(at)}\nnormal = {numbers([-slope, 1, 0][:dim])}\n', None
    radius = chance.uniform(0.1, 0.2)
    at[1] = level + radius * (chance.uniform(-0.7, 0.7) if kind in ("ball", "block") else -1.5)
    if kind in ("ball", "under water"):
        return f'shape = "sphere"\ncenter = {numbers(at)}\nradius = {radius:.6g}\n', None
    turn = [chance.uniform(0, 180) for _ in range(3)]
    if dim == 2:
        turn[0] = turn[1] = 0
    half = [1.3 * radius, 0.6 * radius, radius][:dim]
    # It turns about the origin, then it is moved.
    return (f'shape = "box"\nmin = {numbers([-x for x in half])}\nmax = {numbers(half)}\n'
            f"rotate = {numbers(turn)}\ntranslate = {numbers(at + [0] * (3 - dim))}\n"), None


def pool(chance, dim, kind):
    """A scene as TOML, its depth, and the angle of its shore."""
    level = chance.uniform(0.25, 0.75)
    cells = chance.randint(20, 90) if dim == 2 else chance.randint(14, 26)
    text = (f"tarn = 1\n[domain]\nsize = {numbers([1] * dim)}\ncells = {cells}\n"
            f"[[water]]\nshape = \"box\"\nmin = {numbers([-1] * dim)}\nmax = {numbers([2, level, 2][:dim])}\n"
            f"[time]\nframes = {STEPS}\nrate = 30\nmax_step = 1\n[output]\npreview = false\nsurface = \"none\"\n")
    angle = None
    if kind != "plain":
        table, angle = solid(chance, kind, dim, level)
        text += "[[solid]]\n" + table
    return text, level, angle


case = Case(__file__)
pierced = ("beach", "overhang", "beach", "ball", "overhang", "block")
whole = ("plain", "floor", "under water")
speeds = {}
for dim, count in POOLS.items():
    for n in range(count):
        kind = (pierced[n // 2 % len(pierced)]) if n % 2 else whole[n // 2 % len(whole)]
        chance = random.Random(1000 * dim + n)
        text, level, angle = pool(chance, dim, kind)
        scene = pathlib.Path(case.work.name) / f"pool_{dim}_{n}.toml"
        scene.write_text(text)
        stats = read_stats(case.run(f"pool_{dim}_{n}", scene=scene, extra=["--threads", "1"]))
        if len(stats["max_speed"]) <= STEPS:
            raise SystemExit(f"{scene.name}: fewer than {STEPS} steps")
        speed = np.max(stats["max_speed"][: STEPS + 1]) / math.sqrt(G * level)
        speeds.setdefault(kind, []).append((dim, angle, speed, n))
        if not speed <= BOUND:
            print(f"still_pools: pool {n} in {dim}D, {kind}, {angle}: {speed:.3g}\n{text}", flush=True)

total = sum(len(found) for found in speeds.values())
for kind in dict.fromkeys(whole + pierced):
    worst = max(speed for _, _, speed, _ in speeds[kind])
    case.at_most(f"{len(speeds[kind])} pools, {kind}: largest speed of sqrt(g d)", worst, BOUND)
case.at_most(f"pools of {total} that move", sum(s > BOUND for found in speeds.values() for _, _, s, _ in found), 0)

figure, axes = case.plot(6.5, 3.6)
for dim, mark in ((2, "."), (3, "x")):
    shores = [(a, max(s, 1e-9)) for kind in ("beach", "overhang") for d, a, s, _ in speeds[kind] if d == dim]
    axes.semilogy(*zip(*shores), mark, label=f"slopes, {dim}D")
    others = [max(s, 1e-9) for kind in speeds for d, a, s, _ in speeds[kind] if d == dim and a is None]
    axes.semilogy(np.linspace(175, 195, len(others)), others, mark, color="0.6", label=f"others, {dim}D")
axes.axhline(BOUND, color="k", linewidth=0.8)
axes.set(xlabel="angle of the slope, degrees (others at the right)", ylabel="largest speed / sqrt(g d)")
axes.legend(fontsize=8)
case.finish(figure)
