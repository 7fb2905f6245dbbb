#!/usr/bin/python3
"""Every scene runs to its end, keeps its water, and has none that is faster than falling or pushing could make it."""

import pathlib
import subprocess
import sys
import tomllib

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from case import Case
from tarn_state import read_stats

case = Case(__file__)
for scene in sorted((case.folder.parent.parent / "scenes").glob("*.toml")):
    text = tomllib.loads(scene.read_text())
    try:
        out = case.run(scene.stem, scene=scene, extra=["--set", "output.preview=false"])
    except subprocess.CalledProcessError:
        case.at_most(f"{scene.stem}, runs that stopped early", 1, 0)
        continue
    stats = read_stats(out)
    case.at_most(f"{scene.stem}, frames missing", text["time"]["frames"] - stats["frame"][-1], 0)
    case.expect(f"{scene.stem}, volume at the end", stats["volume"][-1], stats["volume_expected"][-1], 0.01)
    # What falls through the whole domain, pressed through a nozzle of a cell or two where a cavity closes.
    fall = np.sqrt(2 * 9.81 * text["domain"]["size"][1])
    case.at_most(f"{scene.stem}, greatest speed over that of a fall", stats["max_speed"].max() / fall, 20)
case.finish()
