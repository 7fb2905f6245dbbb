#!/usr/bin/python3
"""Puts one fault at a time into the solver, and tells whether the tests notice.

    tools/mutate.py                      all of them, an hour and more
    tools/mutate.py --only 3,7..9        some
    tools/mutate.py --check              whether every line to change is still there, once; changes nothing
    tools/mutate.py --list

Each fault is one line: a sign, an index, a factor or a missing call, as a slip of the hand leaves them. The source is copied to
build-mutate/, the core is built there at -O1, and test_core is run: the tests of the fault's module first, then the quick ones, and the long ones where
those pass. A fault that no test catches
wants a test. A fault that does not compile, or whose line is gone, wants another.
"""

import argparse
import filecmp
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build-mutate"
# Long physics; they run when the others found nothing.
LONG = "*TaylorGreen*:*Cavity*:*Viscosity*:*Sloshing*:*DamBreak*:*Drop*:*Hysing*:*Bubble*"

# Tests that concern a module.
NEAR = {
    "pressure": "Projection*:Pressure*:ClosedPocket*:ConjugateGradients*:StillWater*:OpenSide*:Ceiling*:BlackBox*:*Interfaces*resting*:EnclosedAir*",
    "surface": "Redistancing*:CarriedSurface*:Particles*:Surface*:VolumeCorrection*:Geometry*:StillWater*",
    "advect": "Advection*:Cip*:CarriedSurface*:TaylorGreen*:Gap*:ThinWalls*",
    "phases": "*Interfaces*:Viscosity*:TaylorGreen*:Cavity*:Fragments*:CarriedVolume*",
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
    ("pressure/project.cpp", "tie += PlainBox<D>::tie(own, lower, box.wall[a][0]) + PlainBox<D>::tie(own, upper, box.wall[a][1]);",
     "tie += PlainBox<D>::tie(own, lower, box.wall[a][0]) - PlainBox<D>::tie(own, upper, box.wall[a][1]);", "the surface above pushes with the wrong sign"),
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
    ("advect/advect.cpp", "x[i] -= part * s * mid_u;", "x[i] += part * s * mid_u;", "paths lead forward along x"),
    ("advect/advect.cpp", "const int i_face = locate(px + 0.5f, nx, wx_face),", "const int i_face = locate(px, nx, wx_face),", "u is looked up half a cell off"),
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
    ("phases/fragments.cpp", "changes.push(m, a, -given, grid);", "changes.push(m, a, given, grid);", "fragments drag the grid the wrong way"),
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


def prepare(jobs):
    """The committed and changed source in a folder of its own, built. Only what differs is copied, so that only
    faults are compiled again."""
    COPY.mkdir(exist_ok=True)
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in files.splitlines():
        source, copy = ROOT / name, COPY / "tree" / name
        if not source.is_file() or copy.exists() and filecmp.cmp(source, copy, shallow=False):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
    build = COPY / "tree/build-core"
    if not (build / "build.ninja").exists():
        code, text = run(["cmake", "--preset", "core-test"], COPY / "tree")
        if code:
            sys.exit(text)
    code, text = run(["ninja", "-C", str(build), "-j", str(jobs), "test_core"], COPY / "tree")
    if code:
        sys.exit(text[-3000:])
    return build


def run_tests(build, far, module=None):
    """Nothing when all pass, else what noticed: a module's tests, then those of `far`."""
    for chosen in ([NEAR[module]] if module else []) + far:
        code, text = run([str(build / "bin/test_core"), f"--gtest_filter={chosen}", "--gtest_fail_fast", "--gtest_brief=1"], build, 1800)
        if code:
            return failed_test(text) if code != 124 else "it never ended"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="numbers, such as 0,4..7 [all]")
    parser.add_argument("--check", action="store_true", help="only look for the lines")
    parser.add_argument("--list", action="store_true", help="name the faults")
    parser.add_argument("--quick", action="store_true", help="the quick tests alone")
    parser.add_argument("--near", action="store_true", help="the tests of each fault's module alone")
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

    build = prepare(given.jobs)
    far = [] if given.near else [f"-{LONG}"] if given.quick else [f"-{LONG}", LONG]
    noticed = run_tests(build, far or list(NEAR.values()))
    if noticed:
        sys.exit(f"mutate: {noticed} fails without any fault")
    caught = 0
    for n in chosen:
        file, there, instead, meaning = FAULTS[n]
        path = COPY / "tree/src/tarn" / file
        good = path.read_text()
        started = time.monotonic()
        try:
            path.write_text(good.replace(there, instead))
            code, text = run(["ninja", "-C", str(build), "-j", str(given.jobs), "test_core"], COPY / "tree")
            noticed = run_tests(build, far, file.split("/")[0]) if code == 0 else None
        finally:
            path.write_text(good)
        caught += noticed is not None
        result = "does not compile" if code else f"caught by {noticed}" if noticed else "NOT CAUGHT"
        print(f"mutate: {n}, {file}, {meaning}: {result} ({time.monotonic() - started:.0f} s)", flush=True)
    print(f"mutate: {caught} of {len(chosen)} caught")
    return 0 if caught == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
