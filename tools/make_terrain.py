#!/usr/bin/python3
"""Writes the pictures of scenes/terrain, as 16-bit heights: valley.png, a winding valley, and canyon.png, a canyon with steep walls and
ledges; both fall from left to right.

Plain formulas and no random numbers, so that it gives the same files everywhere:  tools/make_terrain.py [FOLDER]
"""
import math
import pathlib
import struct
import sys
import zlib


def valley(u, v):
    """The ground at u along the valley and v across it, both 0 to 1; 0 is black and 1 is white."""
    middle = 0.5 + 0.14 * math.sin(2 * math.pi * (1.25 * u + 0.05))
    across = (v - middle) / 0.5
    bed = 0.42 - 0.3 * u + 0.02 * math.sin(9 * math.pi * u)
    banks = 0.6 * across * across
    bumps = 0.035 * math.sin(23 * u + 5 * v) * math.cos(17 * v - 3 * u) * min(1.0, abs(across) / 0.3)
    return min(1.0, max(0.0, bed + banks + bumps))


def canyon(u, v):
    """The same of the canyon."""
    middle = 0.5 + 0.16 * math.sin(2 * math.pi * (2.1 * u + 0.1)) + 0.05 * math.sin(2 * math.pi * (5.3 * u + 0.4))
    width = 0.17 + 0.05 * math.sin(2 * math.pi * 3.4 * u) + 0.03 * math.sin(2 * math.pi * 9.1 * u + 1)
    across = abs(v - middle) / width
    bed = 0.34 - 0.16 * u + 0.025 * math.sin(2 * math.pi * 13 * u) * math.cos(2 * math.pi * 4 * v)
    wall = 1 / (1 + math.exp(-14 * (across - 1)))  # steep at the canyon's edge
    ledges = 0.05 * math.floor(3 * min(1.0, max(0.0, across - 0.8))) / 3
    rough = 0.05 * math.sin(37 * u + 9 * v) * math.cos(29 * v - 11 * u)
    return min(1.0, max(0.0, bed + 0.55 * wall + wall * (ledges + rough)))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write(target, ground, width, height):
    rows = b""
    for j in range(height):
        rows += b"\0"  # no filter
        for i in range(width):
            rows += struct.pack(">H", round(65535 * ground(i / (width - 1), j / (height - 1))))
    header = struct.pack(">IIBBBBB", width, height, 16, 0, 0, 0, 0)  # 16-bit grey
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(png)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent / "scenes/terrain")
    write(folder / "valley.png", valley, 256, 128)
    write(folder / "canyon.png", canyon, 512, 64)


if __name__ == "__main__":
    main()
