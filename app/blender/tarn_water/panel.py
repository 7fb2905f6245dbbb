"""The tab "Tarn" of the 3D view's sidebar: where the run stands, reload, and a render by Tarn's camera."""

import json

import bpy

from . import run as runs
from . import sequence


def parts_of(scene):
    return [thing for thing in scene.objects if sequence.PART in thing]


def state_of(folder):
    """The run's own words about itself, as lines."""
    try:
        status = json.loads((runs.find(folder) / "run.json").read_text(encoding="utf-8"))
        lines = [f"{status['state']}: frame {status['frame']} of {status['frames']}"]
        if status["state"] == "running":
            lines.append(f"about {status['eta_seconds']:.0f} s left")
        elif status["state"] != "done":
            lines.append(str(status["exit_reason"]))
        return lines
    except runs.NoRun as error:
        return [str(error)]
    except (OSError, ValueError, KeyError, TypeError):
        return ["its run.json cannot be read"]


class ReloadTarnRun(bpy.types.Operator):
    """Read the files of the run again, and the frames that it has made since"""

    bl_idname = "scene.tarn_reload"
    bl_label = "Reload"

    def execute(self, context):
        scene = context.scene
        parts = parts_of(scene)
        for thing in parts:
            thing[sequence.SHOWN] = -1
        frames = [f for thing in parts if thing[sequence.PART] == "surface" for f in runs.Run(thing[sequence.FOLDER]).frames("surface")]
        if frames:
            scene.frame_start, scene.frame_end = min(frames), max(frames)
        sequence.on_frame(scene)
        return {"FINISHED"}


class RenderTarnCamera(bpy.types.Operator):
    """Render this frame from where Tarn's own pictures are taken"""

    bl_idname = "render.tarn_camera"
    bl_label = "Render with Tarn's camera"

    def execute(self, context):
        camera = next((o for o in context.scene.objects if o.type == "CAMERA" and o.name.startswith("Tarn camera")), None)
        if camera is None:
            self.report({"ERROR"}, "this scene has no Tarn camera; open the run again")
            return {"CANCELLED"}
        context.scene.camera = camera
        return bpy.ops.render.render("EXEC_DEFAULT" if bpy.app.background else "INVOKE_DEFAULT")


class TarnPanel(bpy.types.Panel):
    bl_idname = "VIEW3D_PT_tarn"
    bl_label = "Tarn"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Tarn"

    def draw(self, context):
        parts = parts_of(context.scene)
        if not parts:
            self.layout.operator("import_scene.tarn", text="Open a run")
            return
        folder = bpy.path.abspath(parts[0][sequence.FOLDER])
        self.layout.label(text=folder)
        for line in state_of(folder):
            self.layout.label(text=line)
        self.layout.operator(ReloadTarnRun.bl_idname)
        self.layout.operator(RenderTarnCamera.bl_idname)


CLASSES = (ReloadTarnRun, RenderTarnCamera, TarnPanel)


def register():
    for each in CLASSES:
        bpy.utils.register_class(each)


def unregister():
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
