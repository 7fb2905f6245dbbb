"""What the checks share: running a scene, holding numbers against their bounds, and the look of the plots."""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))


class Case:
    def __init__(self, script, program=None):
        self.folder = pathlib.Path(script).resolve().parent
        built = str(self.folder.parent.parent / "build/bin/tarn")
        self.program = program or (sys.argv[1] if len(sys.argv) > 1 else built)
        self.work = tempfile.TemporaryDirectory(prefix="tarn-")
        self.failed = False

    def run(self, name="run", settings=None, extra=(), scene=None):
        """Runs a scene, this folder's own where none is named, and returns where its files are."""
        out = pathlib.Path(self.work.name) / name
        command = [self.program, "run", str(scene or self.folder / "scene.toml"), "--out", str(out), "--quiet", *extra]
        for key, value in (settings or {}).items():
            command += ["--set", f"{key}={value}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return out

    def expect(self, quantity, measured, reference, bound, relative=True):
        """The measured number is within the bound of the reference: a part of it, or absolute."""
        error = abs(measured - reference) / (abs(reference) if relative else 1)
        text = f"{100 * error:.2f}%" if relative else f"{error:.2g}"
        limit = f"{100 * bound:g}%" if relative else f"{bound:g}"
        self._say(quantity, f"{measured:.5g}", f"{reference:.5g}", text, limit, error <= bound)

    def at_most(self, quantity, measured, bound):
        self._say(quantity, f"{measured:.4g}", "-", "-", f"<={bound:g}", measured <= bound)

    def _say(self, quantity, measured, reference, error, bound, good):
        self.failed = self.failed or not good
        print(f"{self.folder.name}: {quantity} {measured} {reference} {error} {bound} {'PASS' if good else 'FAIL'}", flush=True)

    def plot(self, width=6, height=3.6, columns=1):
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
        figure, axes = plt.subplots(1, columns, figsize=(width, height), layout="constrained")
        for a in [axes] if columns == 1 else axes:
            a.grid(True, color="0.9", linewidth=0.6)
        return figure, axes

    def finish(self, figure=None):
        if figure is not None:
            figure.savefig(self.folder / "plot.png", dpi=80)
        self.work.cleanup()
        sys.exit(1 if self.failed else 0)
