#!/usr/bin/python3
"""Times one frame in Tarn's renderer and in Blender's Cycles, at the same size and samples, and prints the ratio.

    tools/compare_cycles.py out/pour_into_glass 60 [--tarn build/bin/tarn]

Tarn renders the volume of the frame, with caustics. Cycles, on the processor, renders the mesh of the same frame with a
water material over a floor under its sky. Both print what the picture alone took.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SCENE = """
import bpy, sys, time, mathutils
mesh, out, px, py, pz, tx, ty, tz, fov = sys.argv[sys.argv.index('--') + 1:]
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
scene.cycles.samples = 64
scene.cycles.use_adaptive_sampling = False
scene.cycles.use_denoising = False
scene.render.resolution_x, scene.render.resolution_y = 640, 360
scene.render.filepath = out
start = time.time()
bpy.ops.render.render(write_still=True)
print('cycles took', time.time() - start)
"""


def numbers(text, key):
    found = re.search(rf"^{key} = \[([^\]{{]*)\]", text, re.M)
    return [n.strip() for n in found.group(1).split(",")] if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("frame", type=int)
    parser.add_argument("--tarn", default="build/bin/tarn")
    args = parser.parse_args()
    if not shutil.which("blender"):
        sys.exit("compare_cycles: Blender is not installed; apt install blender python3-numpy")
    scene = (args.dir / "scene.toml").read_text()
    camera = scene[scene.index("[camera]"):]
    position, target = numbers(camera, "position"), numbers(camera, "target")
    if not position or not target:
        sys.exit("compare_cycles: the scene's [camera] must give position and target, without keyframes")
    fov = re.search(r"^fov = ([\d.]+)", camera, re.M).group(1)

    tarn = subprocess.run([args.tarn, "render", str(args.dir), "--frames", str(args.frame), "--samples", "64", "--again",
                           "--set", "render.width=640", "--set", "render.height=360"],
                          check=True, capture_output=True, text=True).stdout
    mine = float(re.search(r"frame \d+ .* ([\d.]+) s", tarn).group(1))

    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "scene.py"
        script.write_text(SCENE)
        mesh = (args.dir / "surface" / f"frame_{args.frame:04}.ply").resolve()
        picture = (args.dir / "render" / f"cycles_{args.frame:04}.png").resolve()
        cycles = subprocess.run(["blender", "-b", "--factory-startup", "--python-exit-code", "1", "--python", str(script),
                                 "--", str(mesh), str(picture), *position, *target, fov],
                                check=True, capture_output=True, text=True).stdout
    theirs = float(re.search(r"cycles took ([\d.]+)", cycles).group(1))
    print(f"tarn {mine:.1f} s with caustics, cycles {theirs:.1f} s: cycles / tarn = {theirs / mine:.2f}")


if __name__ == "__main__":
    main()
