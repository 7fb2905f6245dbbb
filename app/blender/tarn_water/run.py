"""A run's folder as numpy arrays. Knows nothing of Blender. Coordinates are Tarn's: metres, y is up."""

import pathlib
import re

import numpy as np

try:
    import tomllib
except ImportError:  # Python before 3.11
    tomllib = None

PARTS = ("surface", "solids", "particles", "volume")


class NoRun(Exception):
    """The folder cannot be shown; the text says why and what to do."""


class Run:
    def __init__(self, folder):
        self.folder = find(folder)
        scene = read_scene(self.folder / "scene.toml")
        self.name = self.folder.name
        self.title = scene.get("title") or self.name
        self.size = [float(x) for x in scene["domain"]["size"]]
        self.rate = float(scene["time"]["rate"])
        self.speed = float(scene["time"].get("speed", 1))  # seconds of the scene for each on the screen
        self.camera = scene.get("camera", {})
        self.solids = scene.get("solid", [])
        if len(self.size) == 2:
            raise NoRun(f"{self.folder}: is a run in 2D, which has an outline and no surface; give domain.size three numbers")
        if not self.frames("surface"):
            raise NoRun(f"{self.folder}: {self._why_no_surface()}")

    def frames(self, part):
        """Which frames of a part are there now; a run that goes on adds to them."""
        return sorted(frames_in(self.folder / part, "vdb" if part == "volume" else "ply"))

    def path(self, part, frame):
        return self.folder / part / f"frame_{frame:04}.{'vdb' if part == 'volume' else 'ply'}"

    def shown(self, part, frame):
        """The newest frame of a part that is not after the given one; the first where there is none before it."""
        there = self.frames(part)
        if not there:
            return None
        before = [f for f in there if f <= frame]
        return before[-1] if before else there[0]

    def _why_no_surface(self):
        surface = self.folder / "surface"
        if frames_in(surface, "usda"):
            return ("its surfaces are USD; open its tarn.usda with File > Import > Universal Scene Description, or run the scene with "
                    'output.surface = "ply"')
        for ending in ("obj", "vtp"):
            if frames_in(surface, ending):
                return f'its surfaces are .{ending}; run the scene with output.surface = "ply"'
        return 'has no surface/frame_*.ply; run the scene with output.surface = "ply"'


def frames_in(folder, ending):
    pattern = re.compile(rf"frame_(\d{{4,}})\.{ending}")
    if not folder.is_dir():
        return []
    return [int(m[1]) for m in (pattern.fullmatch(p.name) for p in folder.iterdir()) if m]


def find(folder):
    """The folder of a run, also where one of its files or of its own folders was meant."""
    given = pathlib.Path(folder).expanduser().resolve()
    if not given.exists():
        raise NoRun(f"{given}: no such folder; give the one that tarn run wrote, such as out/dam_break")
    path = given if given.is_dir() else given.parent
    if path.name in PARTS + ("preview", "render", "state", "checkpoint") and (path.parent / "scene.toml").exists():
        path = path.parent
    if not (path / "scene.toml").exists():
        raise NoRun(f"{path}: holds no run of Tarn, as there is no scene.toml in it; give a folder that tarn run wrote")
    return path


def read_scene(path):
    if tomllib is None:
        raise NoRun("this Blender's Python is older than 3.11 and reads no scene files; use Blender 4.1 or newer, or Debian's 3.4")
    try:
        scene = tomllib.loads(path.read_text(encoding="utf-8"))
        scene["domain"]["size"], scene["time"]["rate"]
    except (ValueError, KeyError) as error:
        raise NoRun(f"{path}: is no scene that tarn run wrote: {error}") from None
    return scene


def read_ply(path):
    """The vertices of a PLY file that Tarn wrote, as a dictionary of columns, and its triangles."""
    data = path.read_bytes()
    end = data.find(b"end_header\n")
    if not data.startswith(b"ply\nformat binary_little_endian 1.0\n") or end < 0:
        raise NoRun(f"{path}: is no PLY file that Tarn wrote")
    vertices = faces = 0
    columns, element = [], ""
    for line in data[:end].decode("ascii", "replace").splitlines():
        words = line.split()
        if words[0] == "element":
            element = words[1]
            vertices, faces = (int(words[2]), faces) if element == "vertex" else (vertices, int(words[2]))
        elif words[0] == "property" and element == "vertex":
            columns.append((words[-1], "<f4" if words[1] == "float" else "<i4"))
    start = end + len(b"end_header\n")
    face = np.dtype([("n", "u1"), ("v", "<i4", 3)])
    vertex = np.dtype(columns)
    if len(data) < start + vertex.itemsize * vertices + face.itemsize * faces:
        raise NoRun(f"{path}: is cut short; run the scene again from there with --resume")
    table = np.frombuffer(data, vertex, vertices, start)
    triangles = np.frombuffer(data, face, faces, start + table.nbytes)["v"]
    return {name: table[name] for name in vertex.names}, triangles


def of_owner(columns, triangles, owner):
    """The part of a mesh of solids that belongs to one entry: triangles by their first corner, and their points."""
    kept = triangles[columns["solid"][triangles[:, 0]] == owner]
    used, renamed = np.unique(kept, return_inverse=True)
    return {name: column[used] for name, column in columns.items()}, renamed.reshape(-1, 3).astype("<i4")


def vectors(columns, *names):
    """Columns side by side, such as x, y, z; zero where a file has none of them."""
    count = len(next(iter(columns.values())))
    zero = np.zeros(count, "<f4")
    return np.ascontiguousarray(np.stack([columns.get(name, zero) for name in names], axis=1))
