"""A run becomes a scene of its own: nothing of what the file held before is touched."""

import math

import bpy

from . import look, note, sequence
from .run import Run


def load(folder):
    """Makes a scene from a run's folder and returns it. Raises NoRun where that cannot be done."""
    run = Run(folder)
    scene = bpy.data.scenes.new(f"Tarn {run.name}")
    set_time(scene, run)
    look.settings(scene)

    # Everything stands in Tarn's coordinates below an empty that turns its y up into Blender's z.
    root = bpy.data.objects.new(f"Tarn {run.name}", None)
    root.rotation_euler = (math.radians(90), 0, 0)
    root.empty_display_size = 0.1 * max(run.size)
    scene.collection.objects.link(root)

    surface = sequence.new_object("Water", "surface", run, scene.collection)
    surface.data.materials.append(look.water())
    made = [surface]
    for number, entry in enumerate(run.solids if run.frames("solids") else ()):
        if not entry.get("subtract"):
            solid = sequence.new_object(f"Solid {number + 1}", "solids", run, scene.collection, number)
            solid.data.materials.append(look.solid(f"Tarn {run.name} solid {number + 1}", entry))
            made.append(solid)
    if run.frames("particles"):
        spray = sequence.new_object("Spray", "particles", run, scene.collection)
        add_points_modifier(spray, look.water())
        made.append(spray)
    if run.frames("volume"):
        made.append(new_volume(run, scene.collection))
    camera = look.new_camera(run, scene.render.resolution_x / scene.render.resolution_y)
    scene.collection.objects.link(camera)
    scene.camera = camera
    made += [camera, new_floor(run, scene.collection), note.new_note(run, scene.collection)]
    for each in made:
        each.parent = root

    scene.world = look.sky("Tarn sky")
    first = run.frames("surface")[0]
    scene.frame_set(first)
    for each in made:
        if sequence.PART in each:
            sequence.show(each, first)
        each.update_tag()  # so that it finds its place when the scene becomes the window's
    return scene


def set_time(scene, run):
    frames = run.frames("surface")
    scene.frame_start, scene.frame_end = frames[0], frames[-1]
    # Blender counts whole frames a second, over a base.
    scene.render.fps = max(1, round(run.rate))
    scene.render.fps_base = scene.render.fps / run.rate


def add_points_modifier(thing, material):
    """Vertices become points that Cycles draws as balls, with the radius that each has."""
    name = "Tarn points"
    group = bpy.data.node_groups.get(name)
    if group is None:
        group = bpy.data.node_groups.new(name, "GeometryNodeTree")
        if hasattr(group, "interface"):
            group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
            group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
        else:  # Blender 3
            group.inputs.new("NodeSocketGeometry", "Geometry")
            group.outputs.new("NodeSocketGeometry", "Geometry")
        nodes, links = group.nodes, group.links
        start, end = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
        radius = nodes.new("GeometryNodeInputNamedAttribute")
        radius.data_type = "FLOAT"
        radius.inputs["Name"].default_value = "radius"
        points = nodes.new("GeometryNodeMeshToPoints")
        paint = nodes.new("GeometryNodeSetMaterial")
        paint.inputs["Material"].default_value = material
        links.new(start.outputs[0], points.inputs["Mesh"])
        links.new(next(o for o in radius.outputs if o.enabled and o.name == "Attribute"), points.inputs["Radius"])
        links.new(points.outputs[0], paint.inputs["Geometry"])
        links.new(paint.outputs[0], end.inputs[0])
    thing.modifiers.new(name, "NODES").node_group = group


def new_volume(run, collection):
    """The level set and the velocity, hidden at first, since the mesh shows the water."""
    frames = run.frames("volume")
    data = bpy.data.volumes.new("Water volume")
    data.filepath = str(run.path("volume", frames[0]))
    data.is_sequence = True
    data.frame_start = frames[0]
    data.frame_duration = frames[-1] - frames[0] + 1
    data.frame_offset = frames[0] - 1  # Blender takes the first file for number 1
    data.grids.load()  # or the next line finds no such grid
    data.velocity_grid = "vel"
    data.velocity_unit = "SECOND"
    made = bpy.data.objects.new("Water volume", data)
    made.hide_viewport = made.hide_render = True
    collection.objects.link(made)
    return made


def new_floor(run, collection):
    """Tiles under the domain, by a hair, so that the water's own underside is not in the same plane; plain ground around them."""
    longest = max(run.size)
    low, rim, reach = -1e-3 * longest, 0.15 * longest, 50 * longest
    width, _, depth = run.size

    def square(away):
        return [(-away, low, -away), (-away, low, depth + away), (width + away, low, depth + away), (width + away, low, -away)]
    data = bpy.data.meshes.new("Floor")
    data.from_pydata(square(rim) + square(reach), [], [(0, 1, 2, 3)] + [(4 + i, 4 + (i + 1) % 4, (i + 1) % 4, i) for i in range(4)])
    data.materials.append(look.tiles("Tarn tiles", longest / 8))
    data.materials.append(look.matte("Tarn ground", (0.13, 0.14, 0.15)))
    data.polygons.foreach_set("material_index", [0, 1, 1, 1, 1])
    made = bpy.data.objects.new("Floor", data)
    collection.objects.link(made)
    return made
