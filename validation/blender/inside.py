"""Runs within Blender: opens runs with the add-on, looks at what it made, and leaves that as JSON.
    blender -b --factory-startup --python inside.py -- ADD-ON RUN MOVING LARGE OUT
"""

import json
import pathlib
import sys
import time

import bpy
import numpy as np
from bpy_extras.object_utils import world_to_camera_view
from mathutils import Matrix, Vector

addon, run, moving, large, out = (pathlib.Path(p) for p in sys.argv[sys.argv.index("--") + 1:])
sys.path.insert(0, str(addon))
import tarn_water  # noqa: E402

tarn_water.register()
found = {}


def open_run(folder):
    assert bpy.ops.import_scene.tarn(directory=str(folder)) == {"FINISHED"}
    return bpy.context.window.scene


def values(data, key, width):
    array = np.empty(len(data) * width, np.float32)
    data.foreach_get(key, array)
    return array.reshape(-1, width)


def seen(scene, name):
    """What a renderer gets of an object at the scene's frame: points in the world, velocity, and the radius of points."""
    graph = bpy.context.evaluated_depsgraph_get()
    each = {}
    for instance in graph.object_instances:
        if instance.object.original.name != name or instance.object.type not in {"MESH", "POINTCLOUD"}:
            continue
        data = instance.object.data
        cloud = instance.object.type == "POINTCLOUD"
        points = values(data.points if cloud else data.vertices, "co", 3)
        if not len(points):
            continue
        matrix = np.array(instance.matrix_world)
        each = {"points": (points @ matrix[:3, :3].T + matrix[:3, 3]).tolist(),
                "velocity": values(data.attributes["velocity"].data, "vector", 3).tolist(),
                "triangles": 0 if cloud else len(data.polygons)}
        if cloud:
            each["radius"] = values(data.attributes["radius"].data, "value", 1).ravel().tolist()
    return each


def render(scene, path, width, height, samples):
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = width, height, 100
    scene.cycles.samples = samples
    scene.cycles.seed = 0
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True, scene=scene.name)
    picture = bpy.data.images.load(str(path))
    pixels = np.array(picture.pixels[:], np.float32).reshape(height, width, 4)
    bpy.data.images.remove(picture)
    return pixels


# Folders that are none are refused with the reason.
found["refusals"] = {}
for name, folder in {"missing": out / "nowhere", "empty": out}.items():
    try:
        bpy.ops.import_scene.tarn(directory=str(folder))
    except RuntimeError as error:
        found["refusals"][name] = str(error)

# The run, frame by frame.
scene = open_run(run)
found["range"] = [scene.frame_start, scene.frame_end, scene.render.fps / scene.render.fps_base]
found["frames"] = {}
for frame in range(scene.frame_start, scene.frame_end + 1):
    scene.frame_set(frame)
    found["frames"][frame] = {name: seen(scene, name) for name in ("Water", "Solid 1", "Spray")}
thing = next(o for o in scene.objects if o.type == "VOLUME")
thing.hide_viewport = False
scene.frame_set(3)
volume = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
volume.grids.load()
found["volume"] = {"unit": volume.velocity_unit, "grid": volume.velocity_grid, "file": volume.grids.frame_filepath,
                   "grids": [g.name for g in volume.grids]}
size = [1.0, 0.8, 0.6]
found["corners"] = [list(world_to_camera_view(scene, scene.camera, Vector((x, -z, y))))
                    for x in (0, size[0]) for y in (0, size[1]) for z in (0, size[2])]
scene.frame_set(scene.frame_end)
picture = render(scene, out / "picture.png", 480, 270, 64)
found["brightness"] = float(picture[..., :3].mean())

# A saved file shows other frames when it is opened again.
bpy.ops.wm.save_as_mainfile(filepath=str(out / "run.blend"))
bpy.ops.wm.open_mainfile(filepath=str(out / "run.blend"))
scene = bpy.context.window.scene
scene.frame_set(2)
found["reopened"] = len(seen(scene, "Water")["points"])

# What the add-on alone hides says in a file that is opened without it what is missing.
def notes():
    return [not o.hide_viewport and not o.hide_render for o in bpy.data.objects if o.name.startswith("Tarn note")]


found["notes"] = {"with": notes()}
tarn_water.unregister()
bpy.ops.wm.open_mainfile(filepath=str(out / "run.blend"))
scene = bpy.context.window.scene
found["notes"]["without"] = notes()
render(scene, out / "without.png", 480, 270, 16)
tarn_water.register()

# The panel's words and its buttons.
bpy.ops.wm.open_mainfile(filepath=str(out / "run.blend"))
scene = bpy.context.window.scene
found["state"] = tarn_water.panel.state_of(str(run)) + tarn_water.panel.state_of(str(out / "nowhere"))
scene.camera, scene.frame_end = None, 1
bpy.ops.scene.tarn_reload()
scene.render.resolution_x, scene.render.resolution_y, scene.cycles.samples = 32, 18, 1
bpy.ops.render.tarn_camera()
found["buttons"] = [scene.frame_end, scene.camera.name]

# A box and a drop that move right at 3 m/s leave a smear as wide as they go while the shutter is open. Seen from straight
# ahead, as light before nothing.
scene = open_run(moving)
scene.frame_set(0)
scene.render.film_transparent = True
glow = bpy.data.materials.new("glow")
glow.use_nodes = True
glow.node_tree.nodes.clear()
light, end = glow.node_tree.nodes.new("ShaderNodeEmission"), glow.node_tree.nodes.new("ShaderNodeOutputMaterial")
glow.node_tree.links.new(light.outputs[0], end.inputs["Surface"])
scene.view_layers[0].material_override = glow
scene.camera.parent = None
scene.camera.data.type = "ORTHO"
scene.camera.data.sensor_fit = "HORIZONTAL"
scene.camera.data.ortho_scale = 1
scene.camera.matrix_world = Matrix(((1, 0, 0, 0.5), (0, 0, -1, -5), (0, 1, 0, 0.5), (0, 0, 0, 1)))
for thing in scene.objects:
    if thing.name.startswith("Floor"):
        thing.hide_render = True
found["widths"] = {}
for shown in ("Water", "Spray"):
    for thing in scene.objects:
        if thing.name.startswith(("Water", "Spray")):
            thing.hide_render = not thing.name.startswith(shown)
    for blur in (False, True):
        scene.render.use_motion_blur = blur
        alpha = render(scene, out / "moving.png", 250, 250, 64)[..., 3]
        found["widths"][f"{shown} {'blurred' if blur else 'sharp'}"] = int((alpha > 0.01).any(axis=0).sum()) / 250
scene.view_layers[0].material_override = None

# How long a large mesh takes, in seconds of the processor.
scene = open_run(large)
scene.frame_set(0)
start = time.process_time()
scene.frame_set(1)
found["large"] = {"seconds": time.process_time() - start, "triangles": seen(scene, next(o.name for o in scene.objects if o.name.startswith("Water")))["triangles"]}

(out / "found.json").write_text(json.dumps(found))
