#!/usr/bin/python3
"""The angle of a Kelvin wake on tall cells, from the height field behind a boat: 19.47 degrees to either side (Kelvin 1887), where the Froude
number of the hull is below a half.

    validation/kelvin_wake/check.py [PROGRAM]
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case  # noqa: E402

SPEED, LEVEL, MIDDLE, H, CELLS = 1.8, 1.8, 5.0, 0.1, (200, 100)
WAVELENGTH = 2 * np.pi * SPEED**2 / 9.81
FRAME, BOW = 85, 15.5 + 0.9  # where the boat's bow is then
# From a wavelength behind the bow to where the waves' energy, which travels half as fast as the boat, has come in 6.5 s at full speed.
NEAR, FAR = WAVELENGTH, 0.5 * SPEED * 6.5


def heights(path):
    """The surface over each column of cells, from the vertices of a mesh that look up."""
    data = path.read_bytes()
    start = data.index(b"end_header\n") + len(b"end_header\n")
    head = data[:start].decode().split("\n")
    count = next(int(line.split()[2]) for line in head if line.startswith("element vertex"))
    columns = sum(line.startswith("property float") for line in head)
    v = np.frombuffer(data, "<f4", count * columns, start).reshape(count, columns)
    v = v[(v[:, 4] > 0.5) & (v[:, 1] > LEVEL - 0.5)]
    sums, weight = np.zeros(CELLS), np.zeros(CELLS)
    # Bilinear, so that columns without a vertex of their own have their neighbours'.
    x, z = v[:, 0] / H - 0.5, v[:, 2] / H - 0.5
    i, k = np.floor(x).astype(int), np.floor(z).astype(int)
    for a in range(2):
        for b in range(2):
            w = np.abs(1 - a - (x - i)) * np.abs(1 - b - (z - k)) + 1e-6
            n, m = np.clip(i + a, 0, CELLS[0] - 1), np.clip(k + b, 0, CELLS[1] - 1)
            np.add.at(sums, (n, m), w * v[:, 1])
            np.add.at(weight, (n, m), w)
    return np.where(weight > 0, sums / np.maximum(weight, 1e-30), LEVEL) - LEVEL


def crest_line(eta):
    """Where the waves are highest on their way out: of each distance behind the bow, the place across where their energy over a wavelength
    is largest, away from the middle."""
    half = int(round(0.5 * WAVELENGTH / H))
    z = np.abs((np.arange(CELLS[1]) + 0.5) * H - MIDDLE)
    both = 0.5 * (eta + eta[:, ::-1])
    behind, across = [], []
    for i in range(half, CELLS[0] - half):
        s = BOW - (i + 0.5) * H
        if not NEAR < s < FAR:
            continue
        energy = np.mean(both[i - half:i + half + 1] ** 2, axis=0)[CELLS[1] // 2:]
        energy = np.convolve(np.pad(energy, 2, mode="edge"), np.ones(5) / 5, "valid")
        out = z[CELLS[1] // 2:]
        near = int(0.18 * s / H)  # within 10 degrees lie the waves that follow the boat
        n = near + int(np.argmax(energy[near:-8]))
        behind.append(s)
        across.append(out[n])
    return np.array(behind), np.array(across)


def main():
    case = Case(__file__)
    eta = heights(case.run() / "surface" / f"frame_{FRAME:04d}.ply")
    behind, across = crest_line(eta)
    slope, offset = np.polyfit(behind, across, 1)
    angle = np.degrees(np.arctan(slope))
    figure, axes = case.plot(7, 3.8)
    picture = axes.imshow(eta.T, origin="lower", extent=(0, CELLS[0] * H, -MIDDLE, MIDDLE), vmin=-0.06, vmax=0.06, cmap="RdBu_r")
    figure.colorbar(picture, label="height, m", shrink=0.7)
    for side in (1, -1):
        axes.plot(BOW - behind, side * (offset + slope * behind), "k-", linewidth=1, label=f"{angle:.1f} degrees" if side > 0 else None)
        axes.plot(BOW - behind, side * (offset + np.tan(np.radians(19.47)) * behind), "k--", linewidth=0.8,
                  label="19.47 degrees" if side > 0 else None)
    axes.set(xlabel="x, m", ylabel="z, m")
    axes.legend(loc="upper left")
    case.expect("half angle of the wake, degrees", angle, 19.47, 1.5, relative=False)
    case.finish(figure)


if __name__ == "__main__":
    main()
