#!/usr/bin/python3
"""The front and the height of a collapsing column, against measurements."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case
from tarn_state import read_outline, read_stats, surfaces

# Martin & Moyce 1952, Phil. Trans. A 244, column a = 2.25 in, n^2 = 2. Table 2: the front Z = x/a over T = t sqrt(2 g/a),
# here from T = 1.43 on, where it advances by 1.319 per unit of T. Table 6: the height over tau = t sqrt(g/a). Their clock starts
# with a gate that needs time to open: T is uncertain by up to 0.3.
A, G = 0.05715, 9.81
SLOPE = 1.319
FRONT = np.array([(1.43, 1.67), (1.63, 1.89), (1.83, 2.11), (1.98, 2.33), (2.2, 2.56), (2.32, 2.78), (2.51, 3.0),
                  (2.65, 3.22), (2.83, 3.44), (2.98, 3.67), (3.11, 3.89), (3.33, 4.11)])
HEIGHT = np.array([(0.56, 0.94), (0.77, 0.89), (0.93, 0.83), (1.08, 0.78), (1.28, 0.72), (1.46, 0.67), (1.66, 0.61),
                   (1.84, 0.56), (2.0, 0.5), (2.21, 0.44), (2.45, 0.39)])

case = Case(__file__)
out = case.run()
t, front, height = [], [], []
for frame, path in enumerate(surfaces(out)):
    x, y = read_outline(path)
    t.append(frame / 500)
    front.append(x.max() / A)
    height.append(y[x < 1e-4 * A].max() / (2 * A))
t = np.array(t)
T, tau = t * np.sqrt(2 * G / A), t * np.sqrt(G / A)

shifts = np.arange(-0.3, 0.3001, 0.01)
misfit = [np.sum((np.interp(FRONT[:, 0] + s, T, front) - FRONT[:, 1]) ** 2) for s in shifts]
shift = shifts[np.argmin(misfit)]
slope = np.polyfit(FRONT[:, 0], np.interp(FRONT[:, 0] + shift, T, front), 1)[0]
case.expect("front slope dZ/dT", slope, SLOPE, 0.05)
case.at_most("shift of T", abs(shift), 0.3)
apart = np.abs(np.interp(HEIGHT[:, 0], tau, height) - HEIGHT[:, 1])
case.at_most("largest difference of height", apart.max(), 0.05)
stats = read_stats(out)
case.expect("volume [m2]", stats["volume"][-1], stats["volume_expected"][-1], 0.02)

figure, (left, right) = case.plot(8, 3.4, 2)
left.plot(T - shift, front, label=f"tarn, T shifted by {shift:.2f}")
left.plot(*FRONT.T, "k.", label="measured")
left.set(xlabel="T", ylabel="front Z", xlim=(0, 3.6), ylim=(0.9, 4.8))
left.legend()
right.plot(tau, height, label="tarn")
right.plot(*HEIGHT.T, "k.", label="measured")
right.set(xlabel="tau", ylabel="height H", xlim=(0, 2.6), ylim=(0.3, 1.05))
case.finish(figure)
