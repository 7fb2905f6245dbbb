#!/usr/bin/python3
"""The decay of Taylor-Green eddies between slip walls, which they fill exactly."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case
from tarn_state import newest_checkpoint, read_checkpoint, read_stats, write_checkpoint

# u = sin(kx) cos(ky), v = -cos(kx) sin(ky) decays as exp(-2 nu k^2 t) (Taylor & Green 1937); k = 2 pi, nu = 0.01, t = 1.
K = 2 * np.pi
DECAY = 0.454040739

case = Case(__file__)
out = case.run()
path = newest_checkpoint(out)
state = read_checkpoint(path)
eddies = [np.sin(K * state.faces(0))[:, None] * np.cos(K * state.centres(1))[None, :],
          -np.cos(K * state.centres(0))[:, None] * np.sin(K * state.faces(1))[None, :]]
for component, values in zip(state.velocity, eddies):
    component[...] = values
write_checkpoint(path, state)
start = state.time
case.run(settings={"time.frames": 51}, extra=["--resume"])
state = read_checkpoint(newest_checkpoint(out))
amplitude = sum(np.sum(c * e) for c, e in zip(state.velocity, eddies)) / sum(np.sum(e * e) for e in eddies)
case.expect("velocity left after 1 s", amplitude, DECAY, 0.01)
shape = max(np.max(np.abs(c / amplitude - e)) for c, e in zip(state.velocity, eddies))
case.at_most("largest change of shape", shape, 0.02)

stats = read_stats(out)
after = stats["time"] > start
figure, axes = case.plot()
t = stats["time"][after] - start
axes.semilogy(t, np.exp(-4 * 0.01 * K**2 * t), color="0.7", label="exp(-4 nu k^2 t)")
axes.semilogy(t, stats["kinetic_energy"][after] / 250, "--", label="tarn, 64 x 64")
axes.set(xlabel="t [s]", ylabel="kinetic energy, of the first")
axes.legend()
case.finish(figure)
