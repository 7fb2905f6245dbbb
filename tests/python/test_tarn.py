"""The Python package: scenes, simulations, arrays that look at the simulation's memory."""

import gc
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tarn

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BOX = {"shape": "box", "min": [0, 0], "max": [0.4, 0.6]}


def dam(cells=32, **more):
    return tarn.Scene(domain={"size": [1, 1], "cells": cells}, water=[BOX], **more)


def with_air(cells=32, **more):
    return dam(cells, method={"phases": "water-air", "surface": "level-set"}, **more)


def test_a_scene_comes_from_a_file_text_or_tables():
    path = ROOT / "scenes/dam_break_2d.toml"
    scene = tarn.Scene(path, {"domain.cells": 40})
    assert scene.domain.cells == 40 and scene.dimension == 2
    assert tarn.Scene(text=path.read_text()).domain.size == [1.2, 0.9]
    scene = tarn.Scene(domain={"size": [1, 1, 1], "walls": {"top": "open"}}, water=[{"shape": "sphere", "center": [0.5] * 3, "radius": 0.2}])
    assert scene.dimension == 3 and scene["domain.walls.top"] == "open"
    assert tarn.Scene(text=str(scene)).domain.cells == scene.domain.cells


def test_attributes_come_from_the_table():
    scene = dam()
    rows = tarn.parameters()
    for row in rows:
        if row["section"] and "." not in row["section"]:
            section = getattr(scene, row["section"])
            assert row["name"] in section._keys
            assert row["meaning"] in getattr(type(section), row["name"]).__doc__
    assert "m²/s" in type(scene.fluid).viscosity.__doc__
    scene.fluid.viscosity = 1e-3
    scene.domain.gravity = [{"t": 0, "v": [0, -9.81]}, {"t": 1, "v": [9.81, 0]}]
    assert scene["fluid.viscosity"] == 1e-3
    assert scene.domain.gravity[1] == {"t": 1, "v": [9.81, 0]}


def test_what_is_wrong_is_an_exception_and_changes_nothing():
    scene = dam()
    with pytest.raises(tarn.InputError, match="cells"):
        scene.domain.cells = -3
    with pytest.raises(tarn.InputError, match="did you mean"):
        scene["domain.cels"] = 3
    with pytest.raises(AttributeError, match="cells"):
        scene.domain.cels = 3
    with pytest.raises(ValueError):
        tarn.Scene(text="tarn = 1\n[domain]\nsize = 3\n")
    with pytest.raises(tarn.InputError, match="nowhere.toml"):
        tarn.Scene("nowhere.toml")
    with pytest.raises(tarn.InputError):
        tarn.Scene()
    assert scene.domain.cells == 32
    sim = tarn.Simulation(scene)
    with pytest.raises(tarn.InputError):
        sim.step(dt=-1)
    with pytest.raises(OSError):
        sim.load("nowhere")


@pytest.mark.parametrize("scene", [dam(), with_air(), tarn.Scene(domain={"size": [1, 1, 1], "cells": 16}, water=[
    {"shape": "box", "min": [0, 0, 0], "max": [0.4, 0.6, 1]}])], ids=["2d", "air", "3d"])
def test_water_falls_and_keeps_its_volume(scene):
    sim = tarn.Simulation(scene)
    before = sim.measures()
    sim.run(until=0.2)
    after = sim.measures()
    assert sim.time == 0.2
    assert after["potential_energy"] < before["potential_energy"]
    assert after["volume"] == pytest.approx(before["volume"], rel=0.01)
    assert sim.phi.shape == sim.cells
    for axis, u in enumerate(sim.velocity):
        assert u.shape == tuple(n + (a == axis) for a, n in enumerate(sim.cells))
        assert np.isfinite(u).all()


def test_frames_are_hit_exactly():
    sim = tarn.Simulation(dam())
    assert list(sim.frames(3)) == [1, 2, 3]
    assert sim.time == 3 / 30
    assert next(sim.frames()) == 4


def test_arrays_look_at_the_simulation():
    sim = tarn.Simulation(with_air())
    phi = sim.phi
    assert phi.dtype == np.float32 and not phi.flags.owndata and phi.flags.writeable
    assert phi.__array_interface__["data"][0] == sim.phi.__array_interface__["data"][0]
    assert phi[0, 0] < 0 < phi[-1, -1]
    sim.velocity[0][5, 5] = 7
    assert sim.velocity[0][5, 5] == 7
    # What looks at the memory keeps it alive.
    del sim
    gc.collect()
    assert phi[0, 0] < 0


def test_what_is_written_is_where_the_next_step_starts():
    sim = tarn.Simulation(with_air())
    x, y = np.meshgrid(*(sim.cell_size * (np.arange(n) + 0.5) for n in sim.cells), indexing="ij")
    before = sim.measures()["volume"]
    sim.phi[:] = np.minimum(sim.phi, np.hypot(x - 0.7, y - 0.7) - 0.1)
    sim.changed()
    poured = sim.measures()["volume"] - before
    assert poured == pytest.approx(np.pi * 0.01, rel=0.03)
    sim.run(until=0.2)
    assert sim.measures()["volume"] - before == pytest.approx(poured, rel=0.05)


def test_a_force_can_be_given_as_a_callback():
    scene = dam()
    scene.domain.gravity = [0, 0]
    sim = tarn.Simulation(scene)

    def push(s):
        s.velocity[0][:] += 5 * s.longest_step if np.isfinite(s.longest_step) else 0.05
        s.changed()

    sim.run(until=0.05, callback=push)
    assert sim.measures()["kinetic_energy"] > 0


def test_particles_and_drops_outlive_the_step():
    sim = tarn.Simulation(tarn.Scene(domain={"size": [1, 1], "cells": 24}, water=[BOX]))
    particles = sim.particles
    assert len(particles["x"]) > 100 and not particles["x"].flags.owndata
    assert particles["x"].__array_interface__["data"][0] == sim.particles["x"].__array_interface__["data"][0]
    kept = particles["x"].copy()
    sim.run(until=0.3)
    assert (particles["x"] == kept).all(), "an array changed or went under a step"
    assert len(sim.particles["x"]) > 0
    sim = tarn.Simulation(tarn.Scene(ROOT / "scenes/turbulent_mixing_2d.toml", {"domain.cells": 48}))
    sim.run(until=0.6)
    drops = sim.drops
    assert len(drops["x"]) == sim.measures()["drops"] > 0
    assert set(drops) >= {"x", "y", "u", "v", "volume", "kind"}
    sim.run(until=0.7)


def test_a_checkpoint_brings_back_the_same_bits(tmp_path):
    sim = tarn.Simulation(with_air())
    sim.run(until=0.1)
    path = str(tmp_path / "state")
    sim.save(path, 3)
    early = sim.hash
    sim.run(until=0.2)
    assert sim.hash != early
    other = tarn.Simulation(with_air())
    assert other.load(path) == 3
    assert other.hash == early
    other.run(until=0.2)
    assert (other.phi == sim.phi).all()
    assert other.hash == sim.hash


def test_a_mesh_is_arrays():
    mesh = tarn.Simulation(dam()).mesh()
    assert mesh["points"].shape[1] == 3 and mesh["lines"].max() < len(mesh["points"])


def test_the_same_bits_as_the_command_line(tmp_path):
    program = os.environ.get("TARN_PROGRAM")
    if not program:
        pytest.skip("the program is not named by TARN_PROGRAM")
    scene = ROOT / "scenes/dam_break_2d.toml"
    subprocess.run([program, "run", scene, "--out", tmp_path / "run", "--frames", "5", "--quiet", "--set", "domain.cells=48",
                    "--set", "output.preview=false", "--set", "output.surface=none", "--set", "output.volume=true",
                    "--set", "output.volume_format=npz"], check=True)
    sim = tarn.Simulation(tarn.Scene(scene, {"domain.cells": 48}))
    for _ in sim.frames(5):
        pass
    written = np.load(sorted((tmp_path / "run/volume").glob("*.npz"))[-1])
    assert (written["phi"].squeeze() == sim.phi).all() or (written["phi"].squeeze().T == sim.phi).all()


def test_a_step_costs_what_the_command_lines_does(tmp_path):
    program = os.environ.get("TARN_PROGRAM")
    if not program:
        pytest.skip("the program is not named by TARN_PROGRAM")
    scene = tmp_path / "dam.toml"
    scene.write_text('tarn = 1\n[domain]\nsize = [1, 1, 1]\ncells = 64\n[[water]]\nshape = "box"\nmin = [0, 0, 0]\nmax = [0.4, 0.6, 1]\n')
    subprocess.run([program, "run", scene, "--out", tmp_path / "run", "--frames", "4", "--quiet", "--threads", "1", "--set", "output.preview=false",
                    "--set", "output.surface=none", "--set", "output.state=false"], check=True)
    rows = (tmp_path / "run/stats.csv").read_text().splitlines()
    names = rows[0].split(",")
    stages = ["seconds_surface", "seconds_advect", "seconds_pressure"]
    # What a step takes beside its stages; of most steps, as some are interrupted by what else the machine does.
    numbers = [dict(zip(names, map(float, row.split(",")))) for row in rows[1:]]
    by_program = statistics.median(row["seconds"] / sum(row[stage] for stage in stages) for row in numbers if row["step"] > 0)

    tarn.set_threads(1)
    sim = tarn.Simulation(tarn.Scene(scene))
    ratios = []
    for _ in range(9):
        begun = time.perf_counter()
        report = sim.step(until=sim.time + sim.frame_seconds)
        ratios.append((time.perf_counter() - begun) / sum(report[stage] for stage in stages))
    tarn.set_threads(0)
    assert statistics.median(ratios) < 1.02 * by_program


def test_other_threads_run_while_a_step_does():
    sim = tarn.Simulation(dam(128))
    counted = [0]
    done = threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(1e-4)

    other = threading.Thread(target=count)
    other.start()
    sim.run(until=0.2)
    done.set()
    other.join()
    assert counted[0] > 20


def test_ctrl_c_stops_between_steps():
    sim = tarn.Simulation(dam(64))
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        sim.run(until=1000)
    stopped = sim.time
    assert 0 < stopped < 1000
    sim.step()
    assert sim.time > stopped


def test_nothing_leaks():
    def make(n):
        for _ in range(n):
            sim = tarn.Simulation(with_air(64))
            sim.step()
            sim.phi, sim.velocity, sim.particles, sim.drops
        gc.collect()

    def resident():
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    make(40)
    before = resident()
    make(160)
    # One simulation holds some 6 MB; 160 that leaked would hold 1 GB.
    assert resident() - before < 12e6


def test_stubs_name_every_attribute():
    stubs = pathlib.Path(tarn.__file__).with_suffix(".pyi").read_text()
    for name in ["class Scene", "class Simulation", "class FluidSection", "viscosity: float", "def frames"]:
        assert name in stubs
    assert pathlib.Path(tarn.__file__).with_name("py.typed").exists()


@pytest.mark.parametrize("example", sorted((ROOT / "examples/python").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(example, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(tarn.__file__).parent.parent)}
    subprocess.run([sys.executable, example, "--quick"], check=True, cwd=tmp_path, timeout=300, env=environment)
