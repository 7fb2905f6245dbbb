#!/usr/bin/python3
"""Makes scenes/meshes/urn.stl: a bowl on a foot, turned about the y axis, in millimetres as many programs have it.

    tools/make_urn.py
"""

import math
import pathlib
import struct

# Outer side from the bottom up, then the bowl's inside from the rim down: radius and height.
PROFILE = [(0, 0), (90, 0), (95, 12), (55, 30), (38, 60), (32, 110), (36, 150), (60, 175), (110, 200), (150, 235), (160, 262),
           (135, 262), (122, 240), (85, 222), (0, 215)]
SIDES = 64


def point(profile, side):
    radius, height = PROFILE[profile]
    angle = 2 * math.pi * (side % SIDES) / SIDES
    return (radius * math.cos(angle), height, -radius * math.sin(angle))


triangles = []
for ring in range(len(PROFILE) - 1):
    for side in range(SIDES):
        a, b, c, d = point(ring, side), point(ring, side + 1), point(ring + 1, side + 1), point(ring + 1, side)
        triangles += [t for t in ((a, b, c), (a, c, d)) if len(set(t)) == 3]
data = b"Tarn: an urn, in millimetres".ljust(80) + struct.pack("<I", len(triangles))
for t in triangles:
    data += struct.pack("<12fH", 0, 0, 0, *[x for p in t for x in p], 0)
(pathlib.Path(__file__).resolve().parent.parent / "scenes/meshes/urn.stl").write_bytes(data)
