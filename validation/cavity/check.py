#!/usr/bin/python3
"""The steady flow in a lid-driven cavity at three Reynolds numbers."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case
from tarn_state import newest_checkpoint, read_checkpoint

# Ghia, Ghia & Shin 1982, J. Comput. Phys. 48, tables I (u on x = 0.5) and II (v on y = 0.5). At Re 400 v(0.9063) is left out: it
# is widely held to be a misprint.
Y = np.array([0.0547, 0.0625, 0.0703, 0.1016, 0.1719, 0.2813, 0.4531, 0.5, 0.6172, 0.7344, 0.8516, 0.9531, 0.9609, 0.9688, 0.9766])
U = {100: [-0.03717, -0.04192, -0.04775, -0.06434, -0.1015, -0.15662, -0.2109, -0.20581, -0.13641, 0.00332, 0.23151, 0.68717, 0.73722, 0.78871, 0.84123],
     400: [-0.08186, -0.09266, -0.10338, -0.14612, -0.24299, -0.32726, -0.17119, -0.11477, 0.02135, 0.16256, 0.29093, 0.55892, 0.61756, 0.68439, 0.75837],
     1000: [-0.18109, -0.20196, -0.2222, -0.2973, -0.38289, -0.27805, -0.10648, -0.0608, 0.05702, 0.18719, 0.33304, 0.46604, 0.51117, 0.57492, 0.65928]}
X = np.array([0.0625, 0.0703, 0.0781, 0.0938, 0.1563, 0.2266, 0.2344, 0.5, 0.8047, 0.8594, 0.9063, 0.9453, 0.9531, 0.9609, 0.9688])
V = {100: [0.09233, 0.10091, 0.1089, 0.12317, 0.16077, 0.17507, 0.17527, 0.05454, -0.24533, -0.22445, -0.16914, -0.10313, -0.08864, -0.07391, -0.05906],
     400: [0.1836, 0.19713, 0.2092, 0.22965, 0.28124, 0.30203, 0.30174, 0.05186, -0.38598, -0.44993, np.nan, -0.22847, -0.19254, -0.15663, -0.12146],
     1000: [0.27485, 0.29012, 0.30353, 0.32627, 0.37095, 0.33075, 0.32235, 0.02526, -0.31966, -0.42665, -0.5155, -0.39188, -0.33714, -0.27669, -0.21388]}
SECONDS = {100: 15, 400: 30, 1000: 50}  # until the flow is steady

case = Case(__file__)
figure, (left, right) = case.plot(8, 3.6, 2)
for reynolds in U:
    out = case.run(f"re{reynolds}", {"fluid.viscosity": 1 / reynolds, "time.frames": SECONDS[reynolds]})
    state = read_checkpoint(newest_checkpoint(out))
    n = state.cells[0]
    y, x = state.centres(1)[:n], state.centres(0)
    # x = 0.5 and y = 0.5 are faces of u and v. Walls and lid are known, and end the lines.
    u = np.concatenate([[0], state.velocity[0][n // 2, :n], [1]])
    v = np.concatenate([[0], state.velocity[1][:, n // 2], [0]])
    y, x = np.concatenate([[0], y, [1]]), np.concatenate([[0], x, [1]])
    case.at_most(f"Re {reynolds}: largest error of u, of the lid's speed", np.max(np.abs(np.interp(Y, y, u) - U[reynolds])), 0.02)
    case.at_most(f"Re {reynolds}: largest error of v, of the lid's speed", np.nanmax(np.abs(np.interp(X, x, v) - V[reynolds])), 0.02)
    line, = left.plot(u, y, label=f"Re {reynolds}", linewidth=1)
    left.plot(U[reynolds], Y, "o", markersize=3, color=line.get_color())
    right.plot(x, v, linewidth=1)
    right.plot(X, V[reynolds], "o", markersize=3, color=line.get_color())
left.set(xlabel="u on x = 0.5", ylabel="y")
left.legend()
right.set(xlabel="x", ylabel="v on y = 0.5")
case.finish(figure)
