#!/usr/bin/python3
"""Times a dam break in Tarn and in Blender's Mantaflow, one after the other, and prints the ratio.

    tools/compare_mantaflow.py [--cells 64,128] [--tarn build/bin/tarn] [--results bench/results/mantaflow.json]

Both let go the column of scenes/dam_break_unit.toml, 0.4 x 0.6 x 1 in a unit cube, for 12 frames at 24 a second, and write a mesh each frame. Mantaflow
(FLIP) takes four steps a frame; Tarn as many as the scene's CFL number of 5 asks for. Times are on the clock, from the first
frame's start to the last mesh on disk, without the start of either program: Tarn's as the sum of its frames, Mantaflow's as
the time of its bake. Tarn runs before and after, and the mean of the two counts, so that a machine that slows down meanwhile
favours neither. Mantaflow's mesh is made from as many cells as its water has, --mesh-scale 1; Blender proposes 2, which takes longer.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RATE, STEPS = 24, 4

# y up becomes z up: Tarn's x, y, z are Blender's x, z, y here; the box is symmetric in its depth.
SCENE = """
import bpy, sys, time
cells, frames, rate, steps, mesh_scale, folder = sys.argv[sys.argv.index('--') + 1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = int(rate)
scene.frame_start, scene.frame_end = 1, int(frames)
scene.use_gravity = True
scene.gravity = (0, 0, -9.81)

bpy.ops.mesh.primitive_cube_add(size=1, location=(0.2, 0.5, 0.3))
column = bpy.context.object
column.scale = (0.4, 1, 0.6)
bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
flow = column.modifiers.new('flow', 'FLUID')
flow.fluid_type = 'FLOW'
flow.flow_settings.flow_type = 'LIQUID'
flow.flow_settings.flow_behavior = 'GEOMETRY'
flow.flow_settings.surface_distance = 0

bpy.ops.mesh.primitive_cube_add(size=1, location=(0.5, 0.5, 0.5))
domain = bpy.context.object
box = domain.modifiers.new('domain', 'FLUID')
box.fluid_type = 'DOMAIN'
settings = box.domain_settings
settings.domain_type = 'LIQUID'
settings.resolution_max = int(cells)
settings.use_adaptive_timesteps = False
settings.timesteps_max = int(steps)
settings.timesteps_min = int(steps)
settings.use_mesh = True
settings.mesh_scale = int(mesh_scale)
settings.cache_directory = folder
settings.cache_type = 'ALL'
settings.cache_frame_start, settings.cache_frame_end = 1, int(frames)

bpy.context.view_layer.objects.active = domain
domain.select_set(True)
bpy.context.view_layer.update()
start = time.time()
done = bpy.ops.fluid.bake_all()
seconds = time.time() - start
print('mantaflow', 'finished' if done == {'FINISHED'} else 'failed', 'in', seconds)

# What came of it, so that a bake that did nothing is not taken for a quick one.
scene.frame_set(int(frames))
water = domain.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
lengths = [max(v.co[a] for v in water.vertices) - min(v.co[a] for v in water.vertices) for a in range(3)] if water.vertices else [0, 0, 0]
print('mantaflow mesh has', len(water.vertices), 'vertices, extent', *lengths)
"""


def time_tarn(program, cells, frames, threads, folder):
    """Seconds of all frames with their output, steps, and the largest error of the volume."""
    sys.path.insert(0, str(ROOT / "tools"))
    from tarn_state import read_stats
    out = pathlib.Path(folder) / "tarn"
    run = subprocess.run([program, "run", str(ROOT / "scenes/dam_break_unit.toml"), "--out", str(out), "--force", "--quiet",
                          "--frames", str(frames), "--threads", str(threads), "--set", f"domain.cells={cells}", "--set", f"time.rate={RATE}",
                          "--set", "output.preview=false"], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stdout + run.stderr)
    stats = read_stats(out)
    meshes = len(list((out / "surface").glob("frame_*.ply")))
    if meshes != frames + 1:
        sys.exit(f"compare_mantaflow: {meshes} meshes of {frames + 1}")
    off = abs(stats["volume"] / stats["volume_expected"] - 1).max()
    return float(stats["seconds"][1:].sum() + stats["seconds_output"][1:].sum()), len(stats["step"]) - 1, float(off)


def time_mantaflow(cells, frames, threads, mesh_scale, folder):
    """Seconds of the bake, and Blender's version."""
    cache = pathlib.Path(folder) / "mantaflow"
    cache.mkdir()
    script = pathlib.Path(folder) / "scene.py"
    script.write_text(SCENE)
    run = subprocess.run(["blender", "-b", "--factory-startup", "-t", str(threads), "--python-exit-code", "1", "--python", str(script), "--",
                          *map(str, (cells, frames, RATE, STEPS, mesh_scale, cache))], capture_output=True, text=True)
    took = re.search(r"mantaflow finished in ([\d.]+)", run.stdout)
    mesh = re.search(r"mantaflow mesh has (\d+) vertices, extent ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)", run.stdout)
    baked = len(list((cache / "mesh").glob("*"))) if (cache / "mesh").exists() else 0
    # After half a second the front has passed the middle, and the column still stands higher than a fifth.
    if run.returncode != 0 or not took or baked < frames or not mesh or float(mesh.group(2)) < 0.5 or float(mesh.group(4)) < 0.2:
        sys.exit("\n".join((run.stdout + run.stderr).splitlines()[-30:]) +
                 f"\ncompare_mantaflow: the bake did not give {frames} meshes of a dam break ({baked} files, {mesh and mesh.groups()})")
    shutil.rmtree(cache)
    version = re.search(r"Blender ([\d.]+)", run.stdout)
    return float(took.group(1)), version.group(1) if version else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default="64,128", help="along each side [64,128]")
    parser.add_argument("--frames", type=int, default=12)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of both [cores]")
    parser.add_argument("--mesh-scale", type=int, default=1, help="cells of Mantaflow's mesh over those of its water [1]")
    parser.add_argument("--tarn", default=str(ROOT / "build/bin/tarn"), help="the built program")
    parser.add_argument("--results", type=pathlib.Path, help="JSON file for the numbers")
    args = parser.parse_args()
    if not shutil.which("blender"):
        sys.exit("compare_mantaflow: Blender is not installed; apt install blender python3-numpy")
    results = []
    for cells in map(int, args.cells.split(",")):
        with tempfile.TemporaryDirectory(prefix="tarn-") as folder:
            before = time_tarn(args.tarn, cells, args.frames, args.threads, folder)
            theirs, version = time_mantaflow(cells, args.frames, args.threads, args.mesh_scale, folder)
            after = time_tarn(args.tarn, cells, args.frames, args.threads, folder)
        mine = 0.5 * (before[0] + after[0])
        print(f"{cells}^3, {args.frames} frames with meshes, {args.threads} threads: tarn {mine / args.frames:.3f} s a frame "
              f"({before[0] / args.frames:.3f} before, {after[0] / args.frames:.3f} after; {after[1]} steps, volume within {100 * after[2]:.2f} %), "
              f"mantaflow {theirs / args.frames:.3f} s a frame ({STEPS * args.frames} steps), mantaflow / tarn = {theirs / mine:.2f}", flush=True)
        results.append({"cells": cells, "frames": args.frames, "threads": args.threads, "blender": version, "mesh_scale": args.mesh_scale,
                        "tarn_seconds_per_frame": round(mine / args.frames, 4), "tarn_steps": after[1],
                        "mantaflow_seconds_per_frame": round(theirs / args.frames, 4), "mantaflow_steps": STEPS * args.frames,
                        "ratio": round(theirs / mine, 3)})
    if args.results:
        args.results.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
