"""Opens a run in Blender without installing the add-on:
    blender --python app/blender/open_run.py -- out/dam_break
"""

import pathlib
import sys

import bpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tarn_water  # noqa: E402

tarn_water.register()
folder = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
if len(folder) != 1:
    sys.exit("give the folder of a run: blender --python app/blender/open_run.py -- out/dam_break")
try:
    scene = tarn_water.load(folder[0])
except tarn_water.NoRun as error:
    sys.exit(f"tarn: {error}")
bpy.context.window.scene = scene
