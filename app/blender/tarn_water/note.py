"""A text in the scene that is seen only where the add-on is missing: without it the water stands still at one frame."""

import bpy
from bpy.app.handlers import persistent

from . import look

NOTE = "tarn_note"
TEXT = "This water needs the add-on Tarn water to move.\nInstall it: ./tarn blender, then Edit > Preferences > Add-ons"


def new_note(run, collection):
    """Before the front of the domain, upright in Tarn's coordinates, and red."""
    data = bpy.data.curves.new("Tarn note", "FONT")
    data.body = TEXT
    data.align_x = "CENTER"
    data.size = 0.04 * max(run.size)
    data.materials.append(look.matte("Tarn note", (0.7, 0.01, 0.01)))
    made = bpy.data.objects.new("Tarn note", data)
    made[NOTE] = True
    made.location = (0.5 * run.size[0], 0.7 * run.size[1], 1.02 * run.size[2])
    collection.objects.link(made)
    hide(made, True)
    return made


def hide(thing, hidden):
    thing.hide_viewport = thing.hide_render = hidden


def hide_all(hidden):
    for thing in bpy.data.objects:
        if NOTE in thing:
            hide(thing, hidden)


# A file is saved with its notes shown: who opens it with the add-on does not see them, everybody else does.
@persistent
def before_saving(*_):
    hide_all(False)


@persistent
def after_saving(*_):
    hide_all(True)


HANDLERS = (("save_pre", before_saving), ("save_post", after_saving), ("load_post", after_saving))


def register():
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister():
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
