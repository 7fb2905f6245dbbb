"""What a run leaves, as numpy arrays: checkpoints, statistics and surfaces. The formats are those of
src/tarn/output/checkpoint.cpp, src/tarn/run/stats.cpp and src/tarn/output/surface.cpp."""

import csv
import pathlib
import struct

import numpy as np

HEADER = struct.Struct("<8sIi3iidQ")
RECORD = struct.Struct("<24sq")
MAGIC = b"TARNCKPT"
VERSION = 10


class State:
    """A checkpoint. `members` has every member of src/tarn/step/state.h by its name: fields as arrays with one padding element at either
    end, everything else as 32-bit words. Arrays are indexed [i, j] or [i, j, k] along x, y, z; velocity[a] has one more value along
    axis a, since it sits on faces."""

    def __init__(self, cells, h, frame, members):
        self.cells = cells
        self.h = h
        self.frame = frame
        self.members = members

    @property
    def time(self):
        return float(self.members["time"].view("<f8")[0])

    @property
    def step(self):
        return int(self.members["step"].view("<i8")[0])

    @property
    def phi(self):
        return self._inner(self.members["phi"], None)

    @property
    def velocity(self):
        return [self._inner(self.members["velocity." + "xyz"[axis]], axis) for axis in range(len(self.cells))]

    @property
    def pressure(self):
        return self._inner(self.members["pressure"], None)

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
    cells, (frame, h, _) = tuple(rest[:dimension]), rest[3:]
    shape = [n + 2 for n in cells]
    at, members = HEADER.size, {}
    while at < len(data) - 8:
        name, size = RECORD.unpack_from(data, at)
        at += RECORD.size
        values, done = np.empty(size, "<f4"), 0
        while done < size:
            (n,) = struct.unpack_from("<i", data, at)
            # A positive count is followed by as many values, a negative one by a value that stands that often.
            take = n if n > 0 else 1
            values[done:done + abs(n)] = np.frombuffer(data, "<f4", offset=at + 4, count=take)
            at += 4 + 4 * take
            done += abs(n)
        is_field = size == np.prod(shape)
        members[name.rstrip(b"\0").decode()] = values.reshape(shape, order="F") if is_field else values
    return State(cells, h, frame, members)


def write_checkpoint(path, state):
    dimension = len(state.cells)
    payload = b""
    for name, member in state.members.items():
        values = member.astype("<f4").ravel(order="F")
        payload += RECORD.pack(name.encode(), values.size)
        if values.size:
            payload += struct.pack("<i", values.size) + values.tobytes()
    cells = list(state.cells) + [1] * (3 - dimension)
    data = HEADER.pack(MAGIC, VERSION, dimension, *cells, state.frame, state.h, len(payload)) + payload
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
