#!/usr/bin/python3
"""Writes scenes/terrain/valley.png: a winding valley that falls from left to right, as 16-bit heights.

Plain formulas and no random numbers, so that it gives the same file everywhere:  tools/make_terrain.py [FILE]
"""
import math
import pathlib
import struct
import sys
import zlib

WIDTH, HEIGHT = 256, 128


def height(u, v):
    """The ground at u along the valley and v across it, both 0 to 1; 0 is black and 1 is white."""
    middle = 0.5 + 0.14 * math.sin(2 * math.pi * (1.25 * u + 0.05))
    across = (v - middle) / 0.5
    bed = 0.42 - 0.3 * u + 0.02 * math.sin(9 * math.pi * u)
    banks = 0.6 * across * across
    bumps = 0.035 * math.sin(23 * u + 5 * v) * math.cos(17 * v - 3 * u) * min(1.0, abs(across) / 0.3)
    return min(1.0, max(0.0, bed + banks + bumps))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def main():
    default = pathlib.Path(__file__).resolve().parent.parent / "scenes/terrain/valley.png"
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    rows = b""
    for j in range(HEIGHT):
        rows += b"\0"  # no filter
        for i in range(WIDTH):
            rows += struct.pack(">H", round(65535 * height(i / (WIDTH - 1), j / (HEIGHT - 1))))
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 16, 0, 0, 0, 0)  # 16-bit grey
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(png)


if __name__ == "__main__":
    main()
