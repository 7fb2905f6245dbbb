#!/usr/bin/python3
"""What the tests say when a heuristic constant is half, twice, or not there: what the table in docs/notation.md is filled from.

    tools/vary_constants.py                      all of them, hours
    tools/vary_constants.py --only theta_min,ridge
    tools/vary_constants.py --check              whether every line is still there, once; changes nothing

Each is built as tools/mutate.py builds its faults, and judged by the tests that concern it; all that fail are named.
"""

import argparse
import os
import pathlib
import sys
import tempfile

import mutate
from mutate import ROOT, Build, run

NEAR = {module: ":".join(tests) for module, tests in mutate.NEAR.items()}

STEP = "StillWater*:Ceiling*:OpenSide*:EnclosedAir*:VolumeCorrection*:SurfaceCells*:FixedStep*:Runs*:Waves*:DamBreak*"
# (name, file below src/tarn/, the line, {what: the line instead}, tests, the files to compile if the line is in a header)
CONSTANTS = [
    ("theta_min", "pressure/surface_fraction.h", "theta_min = 2e-4f;",
     {"half": "theta_min = 1e-4f;", "twice": "theta_min = 4e-4f;", "without": "theta_min = 1e-7f;", "whole cells": "theta_min = 1;"},
     NEAR["pressure"], ["pressure/project.cpp", "pressure/project_phases.cpp", "pressure/enclosed_air.cpp"]),
    ("least_share", "pressure/conjugate_gradients.cpp", "least_share = 0.1;",
     {"half": "least_share = 0.05;", "twice": "least_share = 0.2;", "without": "least_share = 0;"}, NEAR["pressure"], []),
    ("roughly", "pressure/project.cpp", "roughly = 0.1;",
     {"half": "roughly = 0.05;", "twice": "roughly = 0.2;", "without": "roughly = 0;"}, STEP, []),
    ("separating_sets", "pressure/project.cpp", "separating_sets = 2, rejoining_sets = 4;",
     {"half": "separating_sets = 1, rejoining_sets = 2;", "twice": "separating_sets = 4, rejoining_sets = 8;",
      "without": "separating_sets = 0, rejoining_sets = 0;"}, STEP + ":Piston*:Gap*", []),
    ("strong", "pressure/deflation.cpp", "strong = 30;",
     {"half": "strong = 15;", "twice": "strong = 60;", "without": "strong = 1e30f;"}, "DeflationAggregates*:*Interfaces*", []),
    ("lost_distance", "surface/particles.h", "lost_distance = 1.5f;",
     {"half": "lost_distance = 0.75f;", "twice": "lost_distance = 3;", "without": "lost_distance = 1e6f;"},
     NEAR["surface"] + ":Drops*", ["surface/particles.cpp"]),
    ("reseeding", "surface/particles.cpp", "> 1.5f * wanted)) return end;",
     {"half": "> wanted)) return end;", "twice": "> 3 * wanted)) return end;", "without": "> 1e6f * wanted)) return end;"}, "Particles*:CarriedSurface*", []),
    ("closing", "surface/particles.cpp", "static_cast<float>(0.05 * phi.grid().h / dt);",
     {"half": "static_cast<float>(0.025 * phi.grid().h / dt);", "twice": "static_cast<float>(0.1 * phi.grid().h / dt);",
      "without": "0;"}, "Gap*:ThinWalls*:StillWater*:Particles*", []),
    ("least_slope", "surface/redistance.h", "least_slope = 0.9f;",
     {"half": "least_slope = 0.8f;", "twice": "least_slope = 0.95f;", "without": "least_slope = 1;"},
     NEAR["surface"], ["surface/redistance.cpp", "step/surface.cpp"]),
    ("ridge", "surface/redistance.cpp", "ridge = 0.7f;",
     {"half": "ridge = 0.35f;", "twice": "ridge = 0.95f;", "without": "ridge = 0;"}, NEAR["surface"], []),
    ("most_bent", "surface/nearest.h", "most_bent = 0.5f;",
     {"half": "most_bent = 0.25f;", "twice": "most_bent = 1;", "without": "most_bent = 0;"},
     NEAR["surface"] + ":*Interfaces*:Force*", ["surface/redistance.cpp", "surface/reinitialize.cpp"]),
    ("farthest", "surface/correct_volumes.cpp", "furthest = 0.25;",
     {"half": "furthest = 0.125;", "twice": "furthest = 0.5;", "without": "furthest = 100;"}, "VolumeCorrection*:StillWater*:Source*:Sink*", []),
    ("unsure", "step/surface.cpp", "how.unsure = 2e-4;",
     {"half": "how.unsure = 1e-4;", "twice": "how.unsure = 4e-4;", "without": "how.unsure = 0;"}, STEP, []),
    ("tau", "step/surface.cpp", "return std::sqrt(grid.h / (g > 0 ? g : 9.81));",
     {"half": "return 0.5 * std::sqrt(grid.h / (g > 0 ? g : 9.81));", "twice": "return 2 * std::sqrt(grid.h / (g > 0 ? g : 9.81));",
      "without": "return 1e-9;"}, STEP + ":Drops*", []),
    ("air's rate", "step/free_surface.cpp", "-std::expm1(-4 * dt / falling_time(w.grid, p)) / dt;",
     {"half": "-std::expm1(-2 * dt / falling_time(w.grid, p)) / dt;", "twice": "-std::expm1(-8 * dt / falling_time(w.grid, p)) / dt;",
      "without": "0;"}, "EnclosedAir*:SurfacePressure*:Piston*", []),
    ("suction", "step/free_surface.cpp", "(0.1 * dt * length(g) +",
     {"half": "(0.05 * dt * length(g) +", "twice": "(0.2 * dt * length(g) +", "without": "(0 * dt * length(g) +"}, STEP + ":Piston*:Gap*", []),
    ("slowed", "step/free_surface.cpp", "forces.fastest = 0.25 * w.fastest;",
     {"half": "forces.fastest = 0.125 * w.fastest;", "twice": "forces.fastest = 0.5 * w.fastest;", "without": "forces.fastest = 1e-6 * w.fastest;"},
     STEP, []),
    ("leapfrog", "step/free_surface.cpp", "0.9 * dt, 1.1 * dt)",
     {"half": "0.95 * dt, 1.05 * dt)", "twice": "0.8 * dt, 1.2 * dt)", "without": "0.01 * dt, 2 * dt)"}, STEP, []),
    ("omega dt", "step/surface.cpp", "w.air ? 0.5 * 2 : 0.8 * 2;",
     {"half": "w.air ? 0.25 * 2 : 0.4 * 2;", "twice": "w.air ? 2 : 3;", "without": "1e6;"}, STEP + ":*Interfaces*:Waves*", []),
    ("far_away", "bodies/wall_separation.cpp", "far_away = 1.5f;",
     {"half": "far_away = 0.75f;", "twice": "far_away = 3;"}, STEP + ":Piston*:Gap*:Bodies*", []),
    ("uncertain", "bodies/wall_separation.cpp", "uncertain = 0.1f;",
     {"half": "uncertain = 0.05f;", "twice": "uncertain = 0.2f;", "without": "uncertain = 0;"}, STEP + ":Piston*:Gap*:Shore*", []),
    ("sliver", "scene/place_solids.h", "sliver = 0.1f;",
     {"half": "sliver = 0.05f;", "twice": "sliver = 0.2f;", "without": "sliver = 0;"}, STEP + ":Solids*:Piston*:Shore*",
     ["scene/place_solids.cpp", "step/smoke.cpp"]),
    ("small_enough", "phases/unreferenced_cells.cpp", "small_enough = 2;",
     {"half": "small_enough = 1;", "twice": "small_enough = 4;", "without": "small_enough = 0;"}, "Droplets*:*Interfaces*", []),
    ("smearing", "phases/two_fluids.h", "smearing = 1.5f;",
     {"half": "smearing = 0.75f;", "twice": "smearing = 3;"}, "*Interfaces*:Force*:Droplets*",
     ["phases/two_fluids.cpp", "step/surface.cpp", "step/two_phase.cpp"]),
    ("nearest_wall", "phases/viscosity.cpp", "nearest_wall = 0.1f;",
     {"half": "nearest_wall = 0.05f;", "twice": "nearest_wall = 0.2f;", "without": "nearest_wall = 1e-6f;"}, "Viscosity*:Cavity*:TaylorGreen*", []),
    ("long_path", "advect/trace.h", "long_path = 1;",
     {"half": "long_path = 0.5f;", "twice": "long_path = 2;", "without": "long_path = 1e6f;"}, "Advection*:Path*:CarriedSurface*:Cip*",
     ["advect/advect.cpp"]),
    ("landing", "effects/spray.cpp", "most = 0.25f;",
     {"half": "most = 0.125f;", "twice": "most = 0.5f;", "without": "most = 1e3f;"}, "Drops*:Rain*", []),
    ("least_wet", "scene/flows.cpp", "least_wet = 0.25;",
     {"half": "least_wet = 0.125;", "twice": "least_wet = 0.5;", "without": "least_wet = 1e-6;"}, "Sink*:Source*:Inlet*", []),
]


def failing(program, chosen):
    code, text = run([str(program), f"--gtest_filter={chosen}", "--gtest_brief=1"], program.parent, 1800)
    names = sorted({line.split("]")[1].split("(")[0].split(",")[0].strip() for line in text.splitlines() if line.startswith("[  FAILED  ]") and "." in line})
    return names if names or code == 0 else ["it never ended" if code == 124 else f"answers {code}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names, such as theta_min,ridge")
    parser.add_argument("--check", action="store_true", help="only look for the lines")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build's folder [build]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time [cores]")
    given = parser.parse_args()
    chosen = [c for c in CONSTANTS if not given.only or c[0] in given.only.split(",")]
    gone = [c[0] for c in chosen if (ROOT / "src/tarn" / c[1]).read_text().count(c[2]) != 1]
    for name in gone:
        print(f"vary_constants: {name}: its line is not there once")
    if given.check or gone:
        return 1 if gone else 0
    build = Build(given.build.resolve(), given.jobs)
    for name, file, line, instead, tests, units in chosen:
        path = ROOT / "src/tarn" / file
        for what, text in instead.items():
            with tempfile.TemporaryDirectory(prefix="tarn_vary_") as folder:
                program = build.with_changes({path: path.read_text().replace(line, text)}, pathlib.Path(folder),
                                             [ROOT / "src/tarn" / unit for unit in units])
                result = failing(program, tests) if program else ["does not compile"]
            print(f"vary_constants: {name} {what}: {'fails ' + ', '.join(result) if result else 'passes'}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
