"""Meshes that take their points from a run's files whenever the frame changes. Topology changes from frame to frame, so the
mesh is filled anew; the attribute `velocity`, in metres a second on the screen, is what Cycles blurs it by."""

import bpy
import numpy as np
from bpy.app.handlers import persistent

from . import run as runs

# What an object shows is written on it, so that a saved file finds it again.
FOLDER, PART, SHOWN, OWNER = "tarn_folder", "tarn_part", "tarn_frame", "tarn_entry"


def new_object(name, part, run, collection, owner=None):
    """One that shows a part of the run; of the solids, that of one entry."""
    made = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    made[FOLDER], made[PART], made[SHOWN] = str(run.folder), part, -1
    if owner is not None:
        made[OWNER] = owner
    collection.objects.link(made)
    return made


def show(thing, frame):
    """Fills the object's mesh with the frame of its run, unless it has it already."""
    folder, part = bpy.path.abspath(thing[FOLDER]), thing[PART]
    run = runs.Run(folder)
    chosen = run.shown(part, frame)
    if chosen is None or chosen == thing[SHOWN]:
        return
    columns, triangles = runs.read_ply(run.path(part, chosen))
    if OWNER in thing and "solid" in columns:
        columns, triangles = runs.of_owner(columns, triangles, thing[OWNER])
    fill(thing.data, runs.vectors(columns, "x", "y", "z"), triangles)
    # Blender counts the seconds of its own clock.
    set_attribute(thing.data, "velocity", "FLOAT_VECTOR", "vector", run.speed * runs.vectors(columns, "vx", "vy", "vz"))
    if "radius" in columns:
        set_attribute(thing.data, "radius", "FLOAT", "value", np.ascontiguousarray(columns["radius"]))
    thing[SHOWN] = chosen
    # Writing on an object has Blender copy it anew, and its place in the world is lost in that unless asked for.
    thing.update_tag(refresh={"OBJECT", "DATA"})


def fill(mesh, points, triangles):
    mesh.clear_geometry()
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", points.ravel())
    if len(triangles):
        mesh.loops.add(triangles.size)
        mesh.loops.foreach_set("vertex_index", np.ascontiguousarray(triangles).ravel())
        mesh.polygons.add(len(triangles))
        mesh.polygons.foreach_set("loop_start", np.arange(0, triangles.size, 3, dtype="<i4"))
        if bpy.app.version < (3, 6, 0):  # later versions find it themselves
            mesh.polygons.foreach_set("loop_total", np.full(len(triangles), 3, "<i4"))
        mesh.polygons.foreach_set("use_smooth", np.ones(len(triangles), bool))
    mesh.update(calc_edges=True)


def set_attribute(mesh, name, kind, key, values):
    attribute = mesh.attributes.new(name, kind, "POINT")
    attribute.data.foreach_set(key, values.ravel())


@persistent
def on_frame(scene, _depsgraph=None):
    # Motion blur asks for moments between frames: the mesh of the nearest frame serves for them, moved by its velocity.
    frame = round(scene.frame_current + scene.frame_subframe)
    for thing in scene.objects:
        if PART not in thing:
            continue
        try:
            show(thing, frame)
        except (runs.NoRun, OSError) as error:
            # The files may have moved or be in the making; what was shown last stays.
            print(f"tarn: {thing.name}: {error}")


def register():
    bpy.app.handlers.frame_change_pre.append(on_frame)


def unregister():
    bpy.app.handlers.frame_change_pre.remove(on_frame)
