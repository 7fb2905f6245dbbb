#!/usr/bin/python3
"""What the frames of finished runs took, and how they kept their water, in one file.

    tools/time_scenes.py out/pour_into_glass out/breaking_wave [--results bench/results/scenes.json]

Seconds are on the clock and of whole frames; what a frame wrote to disk counts for the next one. Nothing else should
have run meanwhile.
"""
import argparse
import json
import pathlib

import numpy as np

from tarn_state import read_stats


def measure(folder):
    run = json.loads((folder / "run.json").read_text())
    stats = read_stats(folder)
    frame = stats["frame"].astype(int)
    seconds = np.bincount(frame, stats["seconds"] + stats["seconds_output"])[1:]
    off = stats["volume"] / stats["volume_expected"] - 1
    return {
        "scene": run["scene"],
        "machine": run["machine"],
        "threads": run["threads"],
        "frames": int(frame[-1]),
        "steps": len(frame) - 1,
        "seconds_per_frame": seconds.mean(),
        "slowest_frame": seconds.max(),
        "volume_off_at_most": np.abs(off).max(),
        "volume_off_at_end": abs(off[-1]),
        "fastest": stats["max_speed"].max(),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path, help="of runs")
    parser.add_argument("--results", type=pathlib.Path, help="the file to write; without, they are printed")
    given = parser.parse_args()
    result = [measure(folder) for folder in given.folders]
    text = json.dumps(result, indent=2) + "\n"
    if given.results:
        given.results.write_text(text)
    else:
        print(text, end="")
