"""Opens the folder of a Tarn run in Blender. docs/blender.md tells how."""

bl_info = {
    "name": "Tarn water",
    "description": "Opens the folder of a Tarn run: surface, spray, volumes, solids and camera, ready to render",
    "author": "Tarn",
    "version": (0, 2, 0),
    "blender": (3, 4, 0),
    "location": "File > Import > Tarn run (folder)",
    "category": "Import-Export",
}

import bpy

from . import note, panel, sequence
from .load import load
from .run import NoRun


class OpenTarnRun(bpy.types.Operator):
    """Open the folder that tarn run wrote, as a scene of its own"""

    bl_idname = "import_scene.tarn"
    bl_label = "Open Tarn run"
    bl_options = {"REGISTER", "UNDO"}

    directory: bpy.props.StringProperty(name="Folder", subtype="DIR_PATH", description="The folder of the run, such as out/dam_break")
    filter_folder: bpy.props.BoolProperty(default=True, options={"HIDDEN"})

    def invoke(self, context, _event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        try:
            scene = load(bpy.path.abspath(self.directory))
        except NoRun as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if context.window is not None:
            context.window.scene = scene
        return {"FINISHED"}


def add_to_menu(menu, _context):
    menu.layout.operator(OpenTarnRun.bl_idname, text="Tarn run (folder)")


def register():
    bpy.utils.register_class(OpenTarnRun)
    bpy.types.TOPBAR_MT_file_import.append(add_to_menu)
    sequence.register()
    note.register()
    panel.register()


def unregister():
    panel.unregister()
    note.unregister()
    sequence.unregister()
    bpy.types.TOPBAR_MT_file_import.remove(add_to_menu)
    bpy.utils.unregister_class(OpenTarnRun)
