#!/usr/bin/python3
"""Times one frame in Tarn's renderer and in Blender's Cycles, at the same size and samples, and prints the ratio.

    tools/compare_cycles.py out/dam_break 20 [--tarn build/bin/tarn] [--results bench/results/cycles.json]

The run needs output.state = true and output.surface = "ply", as by default. Tarn renders the state of the frame, with spray and
caustics. Cycles, on the processor, renders the mesh of the same frame with a water material over a floor under its sky,
from the same camera. Each time is on the clock and of the whole picture, from the frame on disk to the picture on disk for Tarn, from the
mesh in memory for Cycles. The pictures are render/frame_NNNN.png and render/cycles_NNNN.png.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

SCENE = """
import bpy, sys, time, mathutils
mesh, out, width, height, samples, px, py, pz, tx, ty, tz, fov = sys.argv[sys.argv.index('--') + 1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
bpy.ops.import_mesh.ply(filepath=mesh)
water = bpy.context.object
water.rotation_euler = (1.5707963, 0, 0)  # y up becomes z up
for polygon in water.data.polygons:
    polygon.use_smooth = True
def material(name, kind, **inputs):
    m = bpy.data.materials.new(name)
    m.use_nodes = True
    m.node_tree.nodes.clear()
    node = m.node_tree.nodes.new(kind)
    output = m.node_tree.nodes.new('ShaderNodeOutputMaterial')
    for key, value in inputs.items():
        node.inputs[key].default_value = value
    m.node_tree.links.new(node.outputs[0], output.inputs['Surface'])
    return m
water.data.materials.append(material('water', 'ShaderNodeBsdfGlass', IOR=1.333, Roughness=0.0))
bpy.ops.mesh.primitive_plane_add(size=100)
bpy.context.object.data.materials.append(material('floor', 'ShaderNodeBsdfDiffuse', Color=(0.6, 0.58, 0.55, 1)))
world = bpy.data.worlds.new('sky')
scene.world = world
world.use_nodes = True
sky = world.node_tree.nodes.new('ShaderNodeTexSky')
sky.sun_elevation = 0.9
world.node_tree.links.new(sky.outputs[0], world.node_tree.nodes['Background'].inputs[0])
world.node_tree.nodes['Background'].inputs[1].default_value = 0.1
def up(x, y, z):
    return mathutils.Vector((float(x), -float(z), float(y)))
camera = bpy.data.cameras.new('camera')
eye = bpy.data.objects.new('camera', camera)
scene.collection.objects.link(eye)
eye.location = up(px, py, pz)
eye.rotation_euler = (up(tx, ty, tz) - eye.location).to_track_quat('-Z', 'Y').to_euler()
camera.sensor_fit = 'VERTICAL'
camera.angle_y = float(fov) * 3.14159265 / 180
camera.clip_start = 1e-4
scene.camera = eye
scene.render.engine = 'CYCLES'
scene.cycles.device = 'CPU'
scene.cycles.samples = int(samples)
scene.cycles.use_adaptive_sampling = False
scene.cycles.use_denoising = False
scene.render.resolution_x, scene.render.resolution_y = int(width), int(height)
scene.render.filepath = out
start = time.time()
bpy.ops.render.render(write_still=True)
print('cycles took', time.time() - start)
"""


WIDTH, HEIGHT, SAMPLES = 640, 360, 64


def numbers(text, key):
    found = re.search(rf"^{key} = \[([^\]{{]*)\]", text, re.M)
    return [float(n) for n in found.group(1).split(",")] if found else None


def camera_of(scene):
    """Position, target and field of view: the scene's, or from the front and above where it gives none."""
    size = numbers(scene, "size")
    camera = scene[scene.index("[camera]"):]
    position, target = numbers(camera, "position"), numbers(camera, "target")
    target = target or [0.5 * size[0], 0.4 * size[1], 0.5 * size[2]]
    far = 1.5 * max(size)
    position = position or [target[0] + 0.45 * far, target[1] + 0.35 * far, target[2] + far]
    fov = re.search(r"^fov = ([\d.]+)", camera, re.M)
    return position, target, float(fov.group(1)) if fov else 40.0


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=pathlib.Path, help="folder of a run")
    parser.add_argument("frame", type=int)
    parser.add_argument("--tarn", default="build/bin/tarn", help="the built program")
    parser.add_argument("--results", type=pathlib.Path, help="JSON file for the numbers")
    args = parser.parse_args()
    if not shutil.which("blender"):
        sys.exit("compare_cycles: Blender is not installed; apt install blender python3-numpy")
    mesh = (args.dir / "surface" / f"frame_{args.frame:04}.ply").resolve()
    if not mesh.exists():
        sys.exit(f'compare_cycles: there is no {mesh}; run the scene with output.surface = "ply"')
    position, target, fov = camera_of((args.dir / "scene.toml").read_text())

    settings = {"render.width": WIDTH, "render.height": HEIGHT, "render.denoise": "false", "camera.orbit": 0,
                "camera.position": position, "camera.target": target, "camera.fov": fov}
    words = [w for key, value in settings.items() for w in ("--set", f"{key}={value}")]
    tarn = subprocess.run([args.tarn, "render", str(args.dir), "--frames", str(args.frame), "--samples", str(SAMPLES),
                           "--again", *words], capture_output=True, text=True)
    if tarn.returncode != 0:
        sys.exit(tarn.stdout + tarn.stderr)
    mine_processor = processor_seconds()
    mine = float(re.search(r"frame \d+ .* ([\d.]+) s", tarn.stdout).group(1))

    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "scene.py"
        script.write_text(SCENE)
        picture = (args.dir / "render" / f"cycles_{args.frame:04}.png").resolve()
        given = [mesh, picture, WIDTH, HEIGHT, SAMPLES, *position, *target, fov]
        cycles = subprocess.run(["blender", "-b", "--factory-startup", "--python-exit-code", "1", "--python", str(script),
                                 "--", *map(str, given)], capture_output=True, text=True)
        if cycles.returncode != 0:
            sys.exit(cycles.stdout + cycles.stderr)
    theirs_processor = processor_seconds() - mine_processor
    theirs = float(re.search(r"cycles took ([\d.]+)", cycles.stdout).group(1))
    print(f"{WIDTH} x {HEIGHT}, {SAMPLES} samples: tarn {mine:.1f} s with caustics, cycles {theirs:.1f} s, "
          f"cycles / tarn = {theirs / mine:.2f}\n"
          f"processor time of the whole programs: tarn {mine_processor:.1f} s, blender {theirs_processor:.1f} s")
    if args.results:
        version = re.search(r"Blender ([\d.]+)", cycles.stdout)
        result = {"frame": f"{args.dir.name} {args.frame}", "threads": os.cpu_count(), "width": WIDTH, "height": HEIGHT,
                  "samples": SAMPLES, "blender": version.group(1) if version else "", "tarn_seconds": mine,
                  "cycles_seconds": round(theirs, 2), "ratio": round(theirs / mine, 3),
                  "tarn_processor_seconds": round(mine_processor, 1),
                  "blender_processor_seconds": round(theirs_processor, 1)}
        args.results.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
