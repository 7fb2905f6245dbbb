#!/usr/bin/python3
"""Puts one fault at a time into the solver, and tells whether the tests notice.

    tools/mutate.py                      all of them, an hour and more
    tools/mutate.py --only 3,7..9        some
    tools/mutate.py --check              whether every line to change is still there, once; changes nothing
    tools/mutate.py --list

Each fault is one line: a sign, an index, a factor or a missing call, as a slip of the hand leaves them. A copy of its file with the fault is
compiled beside the build, with its flags but less optimised, and test_core is linked with it instead of with what the build has. The tests of the
fault's module run first, then the quick ones, and the long ones where those pass. A fault that no test catches wants a test. A fault that
does not compile, or whose line is gone, wants another.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Long physics; they run when the others found nothing.
LONG = "*TaylorGreen*:*Cavity*:*Viscosity*:*Sloshing*:*DamBreak*:*Drop*:*Hysing*:*Bubble*"

# Tests that concern a module, the quickest first.
NEAR = {
    "pressure": ["Projection*:Pressure*:ClosedPocket*:ConjugateGradients*:OpenSide*:BlackBox*", "StillWater*:Ceiling*:*Interfaces*resting*:Film*:Force*",
                 "EnclosedAir*"],
    "surface": ["Redistancing*:Particles*:Surface*:VolumeCorrection*:Geometry*", "CarriedSurface*:StillWater*"],
    "advect": ["Advection*:Cip*:Path*:Gap*:ThinWalls*", "CarriedSurface*", "TaylorGreen*"],
    "phases": ["Viscosity*:Droplets*:CarriedVolume*:Force*", "*Interfaces*", "TaylorGreen*:Cavity*"],
}

# (file below src/tarn/, what stands there once, what is put in its place, what is wrong then)
FAULTS = [
    ("pressure/conjugate_gradients.cpp", "xv[i] += share * pc[i];", "xv[i] -= share * pc[i];", "sign of the step along p"),
    ("pressure/conjugate_gradients.cpp", "s->rz_before = s->rz;", ";", "directions are not conjugate"),
    ("pressure/conjugate_gradients.cpp", "if (!goal.from_zero) {", "if (false) {", "the first residual ignores x"),
    ("pressure/conjugate_gradients.cpp", "const int above = i + w[a].next(a);", "const int above = i - w[a].next(a);",
     "MIC(0)'s backward solve looks down"),
    ("pressure/multigrid.cpp", "coarse(c) = 0.5f * s;", "coarse(c) = s;", "coarse conductances are twice too large"),
    ("pressure/multigrid.cpp", "xv[i] += iv[i] > 0 ? add : 0.0f;", "xv[i] -= iv[i] > 0 ? add : 0.0f;", "the coarse correction is taken off"),
    ("pressure/project.cpp", "bv[i] = own < 0 ? more - flow : 0.0f;", "bv[i] = own < 0 ? more + flow : 0.0f;", "sign of the divergence"),
    ("pressure/project.cpp", "dirichlet_term += box.dirichlet_term(own, lower, box.wall[a][0]) + box.dirichlet_term(own, upper, box.wall[a][1]);",
     "dirichlet_term += box.dirichlet_term(own, lower, box.wall[a][0]) - box.dirichlet_term(own, upper, box.wall[a][1]);", "the surface above pushes with the wrong sign"),
    ("pressure/project.cpp", "const float x_lower = lower ? x[i - x.next(a)] : surface.on_surface(c, below, a);",
     "const float x_lower = lower ? x[i] : surface.on_surface(c, below, a);", "the gradient's lower index"),
    ("pressure/project.cpp", "rhs += t * surface.on_surface(c, other, a);", "rhs -= t * surface.on_surface(c, other, a);",
     "sign of the jump at the surface"),
    ("pressure/project_phases.cpp", "remove_means(", "if (false) remove_means(", "closed boxes keep what cannot leave"),
    ("surface/redistance.cpp", "alpha[a] = second ? 2.25f : 1.0f;", "alpha[a] = 1.0f;", "second-order distances with first-order weights"),
    ("surface/redistance.cpp", "return crossed ? own : side * (t[0] + T);", "return crossed ? own : side * (t[0] - T);",
     "distances fall away from the surface"),
    ("surface/redistance.cpp", "const float d1 = down ? lo : hi,", "const float d1 = down ? hi : lo,", "the farther neighbour counts"),
    ("surface/reinitialize.cpp", "side * (std::sqrt(square) - h)", "side * (std::sqrt(square) + h)", "sign in the reinitialisation"),
    ("surface/particles.cpp", "const float value = h * (r - side * length(c.template as<float>() - x));",
     "const float value = h * (r + side * length(c.template as<float>() - x));", "sign in equation (3)"),
    ("surface/particles.cpp", "f[i] = std::fabs(up) < std::fabs(down) ? up : down;", "f[i] = std::fabs(up) < std::fabs(down) ? down : up;",
     "the farther of the two corrections"),
    ("surface/particles.cpp", "if (final) p.radius[i] = radius_at(side, here);", ";", "radii are never adjusted"),
    ("advect/advect.cpp", "out(c) = touches_water(phi, c, axis) ? maccormack(old, forth_const, u, place, c, s) : 0.0f;",
     "out(c) = touches_water(phi, c, axis) ? maccormack(old, forth_const, u, place, c, -s) : 0.0f;", "MacCormack's way back leads on"),
    ("advect/advect_cip.cpp", "x[i] -= part * s * mid_u;", "x[i] += part * s * mid_u;", "paths lead forward along x"),
    ("advect/advect_cip.cpp", "const int i_face = locate(px + 0.5f, nx, wx_face),", "const int i_face = locate(px, nx, wx_face),", "u is looked up half a cell off"),
    ("advect/cip.cpp", "g[xi][at] = old[xi] - share * change[xi];", "g[xi][at] = old[xi] + share * change[xi];", "sign of the gradients' shear"),
    ("advect/cip.cpp", "return 0.5f * (difference<D>(g[a], last, c, i, b) + difference<D>(g[b], last, c, i, a));",
     "return 0.5f * (difference<D>(g[a], last, c, i, b) - difference<D>(g[b], last, c, i, a));", "cross derivatives cancel"),
    ("advect/cip.cpp", "for (int b = 0; b < D; ++b) g[b][i] += difference<D>(now, last, c, i, b) - difference<D>(before, last, c, i, b);",
     "for (int b = 0; b < D; ++b) g[b][i] += 0;", "gradients do not follow the forces"),
    ("phases/two_fluids.cpp", "u[i] += scale * kappa_here * step / rho[i];", "u[i] -= scale * kappa_here * step / rho[i];", "surface tension pushes"),
    ("phases/two_fluids.cpp", "const float kappa_here = (d_upper * k[i - n] + d_lower * k[i])", "const float kappa_here = (d_upper * k[i] + d_lower * k[i - n])",
     "the farther cell's curvature counts more"),
    ("phases/two_fluids.cpp", "m[i] = air + (water - air) * smeared_step(p[i], epsilon);", "m[i] = water + (air - water) * smeared_step(p[i], epsilon);",
     "viscosities are exchanged"),
    ("phases/viscosity.cpp", "float force = 2 * (ua[i + n] + ua[i - n] - 2 * ua[i]);", "float force = ua[i + n] + ua[i - n] - 2 * ua[i];",
     "normal stress is halved"),
    ("phases/viscosity.cpp", "force += edge * (u[a](across) - here + (side ? along : -along));", "force += edge * (u[a](across) - here + along);",
     "shear has one sign on both sides"),
    ("phases/droplets.cpp", "changes.push(m, a, pressed - given, grid);", "changes.push(m, a, pressed + given, grid);", "droplets drag the grid the wrong way"),
]


def numbers(text):
    for part in text.split(","):
        low, _, high = part.partition("..")
        yield from range(int(low), int(high or low) + 1)


def run(command, folder, seconds=None, env=None):
    """Exit code and output; 124 when it took too long."""
    try:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, env=env)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        return 124, (late.stdout or b"").decode(errors="replace") if isinstance(late.stdout, bytes) else late.stdout or ""


def failed_test(output):
    names = [line.split("]")[1].split("(")[0].strip() for line in output.splitlines() if line.startswith("[  FAILED  ]") and "." in line]
    return names[0] if names else output.strip().splitlines()[-1][:100] if output.strip() else "no output"


class Build:
    """test_core as it is built, and the commands that build it."""

    def __init__(self, folder, jobs):
        self.folder = folder
        code, text = run(["ninja", "-C", str(folder), "-j", str(jobs), "test_core"], ROOT)
        if code:
            sys.exit(text[-3000:])
        self.commands = subprocess.run(["ninja", "-C", str(folder), "-t", "commands", "test_core"], capture_output=True, text=True,
                                       check=True).stdout.splitlines()

    def with_changes(self, changes, into, units=None):
        """test_core with other texts of some files, {path: text}: compiles `units`, those files unless given, and links. None where that fails."""
        for path, text in changes.items():
            copy = into / path.relative_to(ROOT / "src")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text)
        objects, program = [], into / "test_core"
        for unit in units or changes:
            command = next(c for c in self.commands if c.endswith(f" -c {unit}"))
            source = into / unit.relative_to(ROOT / "src") if unit in changes else unit
            objects.append(str(into / f"{len(objects)}.o"))
            # What is included from there is looked for first, and less optimised is sooner done.
            command = re.sub(r" -O\d", " -O1", command).replace(" -I", f" -I{into} -I", 1)
            command = re.sub(r" -MD -MT \S+ -MF \S+ -o \S+ -c \S+$", f" -o {objects[-1]} -c {source}", command)
            if run(["bash", "-c", command], self.folder)[0]:
                return None
        # What the objects define is not taken from the libraries.
        link = next(c for c in reversed(self.commands) if " -o bin/test_core " in c).removeprefix(": && ").split(" && ")[0]
        link = link.replace(" -o bin/test_core ", f" {' '.join(objects)} -o {program} ")
        return None if run(["bash", "-c", link], self.folder)[0] else program


def run_tests(program, far, module=None):
    """Nothing when all pass, else what noticed: a module's tests, then those of `far`."""
    for chosen in (NEAR[module] if module else []) + far:
        code, text = run([str(program), f"--gtest_filter={chosen}", "--gtest_fail_fast", "--gtest_brief=1"], program.parent, 1800)
        if code:
            return "it never ended" if code == 124 else f"a crash, signal {-code}" if code < 0 else failed_test(text)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="numbers, such as 0,4..7 [all]")
    parser.add_argument("--check", action="store_true", help="only look for the lines")
    parser.add_argument("--list", action="store_true", help="name the faults")
    parser.add_argument("--quick", action="store_true", help="the quick tests alone")
    parser.add_argument("--near", action="store_true", help="the tests of each fault's module alone")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build's folder [build]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time [cores]")
    given = parser.parse_args()
    chosen = list(numbers(given.only)) if given.only else range(len(FAULTS))
    gone = 0
    for n in chosen:
        file, there, instead, meaning = FAULTS[n]
        path = ROOT / "src/tarn" / file
        count = path.read_text().count(there) if path.exists() else 0
        if given.list:
            print(f"{n:2} {file}: {meaning}")
        if count != 1:
            gone += 1
            print(f"mutate: {n}, {file}, {meaning}: the line stands there {count} times")
    if given.check or given.list or gone:
        return 1 if gone else 0

    build = Build(given.build.resolve(), given.jobs)
    far = [] if given.near else [f"-{LONG}"] if given.quick else [f"-{LONG}", LONG]
    modules = sorted({FAULTS[n][0].split("/")[0] for n in chosen})
    noticed = run_tests(build.folder / "bin/test_core", far or [chosen for module in modules for chosen in NEAR[module]])
    if noticed:
        sys.exit(f"mutate: {noticed} fails without any fault")
    caught = 0
    for n in chosen:
        file, there, instead, meaning = FAULTS[n]
        path = ROOT / "src/tarn" / file
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="tarn_mutate_") as folder:
            program = build.with_changes({path: path.read_text().replace(there, instead)}, pathlib.Path(folder))
            noticed = program and run_tests(program, far, file.split("/")[0])
        caught += noticed is not None
        result = "does not compile" if not program else f"caught by {noticed}" if noticed else "NOT CAUGHT"
        print(f"mutate: {n}, {file}, {meaning}: {result} ({time.monotonic() - started:.0f} s)", flush=True)
    print(f"mutate: {caught} of {len(chosen)} caught")
    return 0 if caught == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
