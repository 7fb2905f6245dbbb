#!/usr/bin/python3
"""Makes scenes/meshes/boat.stl: the closed hull of a boat 1.8 m long, in metres; its bow points along x, y = 0 is its waterline.

    tools/make_boat.py
"""

import math
import pathlib
import struct

LENGTH, BEAM, DRAUGHT, FREEBOARD = 1.8, 0.56, 0.2, 0.22
STATIONS, HEIGHTS = 40, 16


def ring(s):
    """Points of the section at s, -1 at the transom and 1 at the bow: up the left side, over the deck, down the right side."""
    keel = -DRAUGHT * (1 - 0.35 * max(0.0, s) ** 3)
    deck = FREEBOARD * (1 + 0.35 * max(0.0, s) ** 2)
    plan = 1 - 0.3 * s * s if s < 0 else math.sqrt(1 - s ** 3)
    side = []
    for n in range(HEIGHTS + 1):
        t = n / HEIGHTS  # 0 at the keel, 1 at the deck
        full = math.sqrt(1 - (1 - min(1.0, 1.8 * t)) ** 2)
        flare = 1 + 0.25 * max(0.0, s) * t
        side.append((0.5 * BEAM * plan * full * flare, keel + (deck - keel) * t))
    x = 0.5 * LENGTH * s
    return [(x, y, -z) for z, y in side] + [(x, y, z) for z, y in reversed(side[1:])]


rings = [ring(-1 + 2 * k / STATIONS) for k in range(STATIONS + 1)]
count = len(rings[0])
triangles = []
for k in range(STATIONS):
    for n in range(count):
        a, b = rings[k][n], rings[k][(n + 1) % count]
        c, d = rings[k + 1][(n + 1) % count], rings[k + 1][n]
        triangles += [t for t in ((a, b, c), (a, c, d)) if len(set(t)) == 3]
middle = (rings[0][0][0], 0.0, 0.0)
for n in range(count):
    t = (middle, rings[0][(n + 1) % count], rings[0][n])
    if len(set(t)) == 3:
        triangles.append(t)
data = b"Tarn: a boat, in metres".ljust(80) + struct.pack("<I", len(triangles))
for t in triangles:
    data += struct.pack("<12fH", 0, 0, 0, *[x for p in t for x in p], 0)
(pathlib.Path(__file__).resolve().parent.parent / "scenes/meshes/boat.stl").write_bytes(data)
