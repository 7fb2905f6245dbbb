"""What a run leaves, as numpy arrays: checkpoints, statistics and surfaces. The formats are those of
src/tarn/output/checkpoint.cpp, src/tarn/run/stats.cpp and src/tarn/output/surface.cpp."""

import csv
import pathlib
import struct

import numpy as np

HEADER = struct.Struct("<8sIi3iidddddqqqqqqqqqQ")
MAGIC = b"TARNCKPT"
VERSION = 8


class State:
    """A checkpoint. Arrays are indexed [i, j] or [i, j, k] along x, y, z; velocity[a] has one more value along axis a,
    since it sits on faces."""

    def __init__(self, cells, h, time, step, frame, volume_expected, fields, rest):
        self.cells = cells
        self.h = h
        self.time = time
        self.step = step
        self.frame = frame
        self.volume_expected = volume_expected
        self.fields = fields  # as stored: phi, each velocity component, pressure, with one padding element at either end
        self.rest = rest  # particles, components, gradients, fragments, pockets, sources and bodies, as stored: what belongs to no component, the step before, their counts, their words

    @property
    def phi(self):
        return self._inner(self.fields[0], None)

    @property
    def velocity(self):
        return [self._inner(f, axis) for axis, f in enumerate(self.fields[1:-1])]

    @property
    def pressure(self):
        return self._inner(self.fields[-1], None)

    def centres(self, axis):
        return (np.arange(self.cells[axis]) + 0.5) * self.h

    def faces(self, axis):
        return np.arange(self.cells[axis] + 1) * self.h

    def _inner(self, field, axis):
        return field[tuple(slice(1, n + 2 if a == axis else n + 1) for a, n in enumerate(self.cells))]


def read_checkpoint(path):
    data = pathlib.Path(path).read_bytes()
    magic, version, dimension, *rest = HEADER.unpack_from(data)
    if magic != MAGIC or version != VERSION:
        raise ValueError(f"{path}: no checkpoint of version {VERSION}")
    cells, (frame, h, time, volume_expected, elsewhere, ahead, step, *counts, _) = tuple(rest[:dimension]), rest[3:]
    words = np.frombuffer(data, "<i4", offset=HEADER.size, count=(len(data) - HEADER.size - 8) // 4)
    shape = [n + 2 for n in cells]
    size, at, fields = int(np.prod(shape)), 0, []
    for _ in range(dimension + 2):
        field, done = np.empty(size, "<f4"), 0
        while done < size:
            n = int(words[at])
            at += 1
            # A positive count is followed by as many values, a negative one by a value that stands that often.
            take = n if n > 0 else 1
            field[done:done + abs(n)] = words[at:at + take].view("<f4")
            at += take
            done += abs(n)
        fields.append(field.reshape(shape, order="F"))
    return State(cells, h, time, step, frame, volume_expected, fields,
                 (elsewhere, ahead, tuple(counts), words[at:].tobytes()))


def write_checkpoint(path, state):
    dimension = len(state.cells)
    elsewhere, ahead, counts, lists = state.rest
    payload = b""
    for field in state.fields:
        values = field.astype("<f4").ravel(order="F")
        payload += struct.pack("<i", values.size) + values.tobytes()
    payload += lists
    cells = list(state.cells) + [1] * (3 - dimension)
    data = HEADER.pack(MAGIC, VERSION, dimension, *cells, state.frame, state.h, state.time, state.volume_expected,
                       elsewhere, ahead, state.step, *counts, len(payload)) + payload
    pathlib.Path(path).write_bytes(data + struct.pack("<Q", _checksum(data)))


def _checksum(data):
    mask = (1 << 64) - 1
    state = 0x9E3779B97F4A7C15 ^ len(data)
    padded = data + bytes(-len(data) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        state = (state ^ word) * 0xD6E8FEB86659FD93 & mask
        state ^= state >> 32
    return state


def newest_checkpoint(folder):
    files = list((pathlib.Path(folder) / "checkpoint").iterdir())
    return max((f for f in files if f.is_file()), key=lambda f: read_checkpoint(f).step)


def read_stats(folder):
    """stats.csv as a dictionary of columns."""
    with open(pathlib.Path(folder) / "stats.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def read_lines(path):
    """A two-dimensional surface: its points, x and y, and the lines between them as pairs of their numbers, with the water on
    one side."""
    data = pathlib.Path(path).read_bytes()
    head, body = data.split(b"end_header\n", 1)
    elements = []
    for line in head.decode().splitlines():
        words = line.split()
        if words[0] == "element":
            elements.append((words[1], int(words[2]), []))
        elif words[0] == "property":
            elements[-1][2].append((words[2], "<i4" if words[1] == "int" else "<f4"))
    tables, at = {}, 0
    for name, count, columns in elements:
        kind = np.dtype(columns)
        tables[name] = np.frombuffer(body, kind, count=count, offset=at)
        at += count * kind.itemsize
    points = np.stack([tables["vertex"]["x"], tables["vertex"]["y"]], axis=1).astype(float)
    lines = np.stack([tables["edge"]["vertex1"], tables["edge"]["vertex2"]], axis=1)
    return points, lines


def read_outline(path):
    """The points of a two-dimensional surface, x and y."""
    points, _ = read_lines(path)
    return points[:, 0], points[:, 1]


def surfaces(folder):
    """The surface files of a run, in order."""
    return sorted((pathlib.Path(folder) / "surface").glob("frame_*.ply"))
