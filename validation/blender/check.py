#!/usr/bin/python3
"""The add-on of app/blender in Blender itself, without a window."""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case

case = Case(__file__)
addon = case.folder.parent.parent / "app/blender"
sys.path.insert(0, str(addon / "tarn_water"))
from run import read_ply, vectors

if shutil.which("blender") is None:
    print(f"{case.folder.name}: there is no blender on this machine; install it with apt-get install blender python3-numpy")
    sys.exit(1)

work = pathlib.Path(case.work.name)
run = case.run()
out = work / "out"
out.mkdir()


def write_run(folder, frames):
    """A run's folder with surfaces of our own: name of the part and frame to vertices (columns of floats) and triangles."""
    (work / folder).mkdir()
    (work / folder / "scene.toml").write_text("tarn = 1\n[domain]\nsize = [1.0, 1.0, 1.0]\n[time]\nrate = 30\n")
    for (part, frame), (columns, triangles) in frames.items():
        (work / folder / part).mkdir(exist_ok=True)
        table = np.stack([np.broadcast_to(c, len(columns["x"])) for c in columns.values()], axis=1).astype("<f4")
        faces = np.zeros(len(triangles), np.dtype([("n", "u1"), ("v", "<i4", 3)]))
        faces["n"] = 3
        faces["v"] = triangles
        head = f"ply\nformat binary_little_endian 1.0\nelement vertex {len(table)}\n"
        head += "".join(f"property float {name}\n" for name in columns)
        head += f"element face {len(faces)}\nproperty list uchar int vertex_indices\n" if len(faces) else ""
        (work / folder / part / f"frame_{frame:04}.ply").write_bytes(
            head.encode() + b"end_header\n" + table.tobytes() + faces.tobytes())
    return work / folder


# A box 0.2 wide and a drop 0.2 wide, both moving right.
SPEED, RATE, SHUTTER = 3, 30, 0.5
corner = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)])
x, y, z = (0.4 + 0.2 * corner).T
quads = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]
box = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
velocity = {"vx": SPEED, "vy": 0, "vz": 0}
moving = write_run("moving", {
    ("surface", 0): ({"x": x, "y": y, "z": z, **velocity}, box),
    ("particles", 0): ({"x": np.array([0.5]), "y": 0.5, "z": 0.5, **velocity, "radius": 0.1}, np.empty((0, 3)))})

# A sheet of 400 k triangles; frame 0 is small.
n = 448
i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
first = (i * n + j)[:-1, :-1].ravel()
sheet = np.concatenate([np.stack([first, first + 1, first + n], 1), np.stack([first + 1, first + n + 1, first + n], 1)])
points = {"x": i.ravel() / n, "y": 0.5, "z": j.ravel() / n, "vx": 0, "vy": 0, "vz": 0}
large = write_run("large", {("surface", 0): ({"x": x, "y": y, "z": z, **velocity}, box), ("surface", 1): (points, sheet)})

blender = subprocess.run(["blender", "-b", "--factory-startup", "--python-exit-code", "1", "--python", str(case.folder / "inside.py"), "--",
                          str(addon), str(run), str(moving), str(large), str(out)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
if blender.returncode != 0:
    print("\n".join(blender.stdout.splitlines()[-20:]))
    sys.exit(1)
found = json.loads((out / "found.json").read_text())

# y up becomes z up: (x, y, z) to (x, -z, y).
worst = {"points": 0.0, "velocity": 0.0, "radius": 0.0}
missing, drops = 0, 0
for frame, parts in found["frames"].items():
    for name, part in (("Water", "surface"), ("Solid 1", "solids"), ("Spray", "particles")):
        columns, triangles = read_ply(run / part / f"frame_{int(frame):04}.ply")
        expected, shown = vectors(columns, "x", "y", "z"), parts[name]
        if len(expected) != len(shown.get("points", ())) or len(triangles) != shown.get("triangles", 0):
            missing += 1
        if missing or not len(expected):
            continue
        x, y, z = expected.T
        worst["points"] = max(worst["points"], np.abs(np.stack([x, -z, y], 1) - shown["points"]).max())
        worst["velocity"] = max(worst["velocity"], np.abs(vectors(columns, "vx", "vy", "vz") - shown["velocity"]).max())
        if part == "particles":
            drops += len(expected)
            worst["radius"] = max(worst["radius"], np.abs(columns["radius"] - shown["radius"]).max())
case.expect("frames", len(found["frames"]), 9, 0, relative=False)
case.expect("frames a second", found["range"][2], 24, 1e-6)
case.at_most("parts with other points or triangles than their file", missing, 0)
case.at_most("distance of points from their place [m]", worst["points"], 1e-6)
case.at_most("error of velocity [m/s]", worst["velocity"], 0)
case.at_most("error of radius [m]", worst["radius"], 0)
case.expect("there is spray", float(drops > 0), 1, 0, relative=False)
case.expect("a file opened again shows its run", found["reopened"], len(read_ply(run / "surface/frame_0002.ply")[0]["x"]), 0, relative=False)
case.expect("a note is hidden with the add-on", float(found["notes"]["with"] == [False]), 1, 0, relative=False)
case.expect("and shown without it", float(found["notes"]["without"] == [True]), 1, 0, relative=False)
words = found["state"]
case.expect("the panel tells the run's state", float(words[0] == "done: frame 8 of 8" and "no such folder" in words[1]), 1, 0, relative=False)
case.expect("reload and Tarn's camera", float(found["buttons"] == [8, "Tarn camera"]), 1, 0, relative=False)
volume = found["volume"]
good = volume["unit"] == "SECOND" and volume["grid"] == "vel" and volume["file"].endswith("frame_0003.vdb") and {"surface", "vel"} <= set(volume["grids"])
case.expect("volumes in m/s", float(good), 1, 0, relative=False)
corners = np.array(found["corners"])
case.at_most("the domain beyond the picture's edge", max(0, np.abs(corners[:, :2] - 0.5).max() - 0.5), 0)
# Two pixels of 1/250 m on either side.
for name in ("Water", "Spray"):
    smear = found["widths"][f"{name} blurred"] - found["widths"][f"{name} sharp"]
    case.expect(f"smear of {name.lower()} at {SPEED} m/s [m]", smear, SPEED * SHUTTER / RATE, 0.008, relative=False)
case.at_most("processor time to show 400 k triangles [s]", found["large"]["seconds"], 1.0)
case.expect("triangles shown", found["large"]["triangles"], len(sheet), 0, relative=False)
# Neither night nor burnt out.
case.expect("brightness of the picture", found["brightness"], 0.45, 0.25, relative=False)
for name, part in (("missing", "no such folder"), ("empty", "holds no run of Tarn")):
    case.expect(f"a {name} folder is refused", float(part in found["refusals"].get(name, "")), 1, 0, relative=False)

shutil.copy(out / "picture.png", case.folder / "plot.png")
case.finish()
