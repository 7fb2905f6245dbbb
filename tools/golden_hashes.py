#!/usr/bin/python3
"""Writes tests/golden_hashes.txt: the hash that each scene of tests/run_hash.cpp ends with, for this compiler, processor and C library.

    tools/golden_hashes.py            after a change that is meant to change results; builds test_tarn and runs the scenes, a minute
    tools/golden_hashes.py --show     what differs from the file; changes nothing, and answers 1 if anything does

What other machines gave stays in the file as long as this one's results are what they were; where they have changed, it is taken out, as nobody
can tell what those would give now.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests/golden_hashes.txt"
HEAD = """# The hash in run.json at the end of each scene of run_hash.cpp, by compiler, processor and C library.
# tools/golden_hashes.py writes this file; a commit that changes it says what changes results.
"""


def read():
    """{key: {kind: hash}}"""
    golden, here = {}, None
    for line in GOLDEN.read_text().splitlines() if GOLDEN.exists() else []:
        if line.startswith("["):
            here = golden.setdefault(line[1:-1], {})
        elif line and not line.startswith("#"):
            kind, _, value = line.partition(" ")
            here[kind] = value
    return golden


def write(golden):
    GOLDEN.write_text(HEAD + "".join(f"\n[{key}]\n" + "".join(f"{kind} {value}\n" for kind, value in sorted(hashes.items()))
                                     for key, hashes in sorted(golden.items())))


def collect(build):
    """The key of this machine, and the hashes that it gives now."""
    with tempfile.NamedTemporaryFile("r", prefix="tarn_golden_") as file:
        done = subprocess.run([build / "bin/test_tarn", "--gtest_filter=*RunHash.is_the_golden_one/*", "--gtest_brief=1"],
                              env=dict(os.environ, TARN_GOLDEN_TO=file.name))
        if done.returncode:
            sys.exit("golden_hashes: a scene does not run")
        rows = [line.split("\t") for line in file.read().splitlines()]
    return rows[0][0], {kind: value for _, kind, value in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="only say what differs")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build's folder [build]")
    parser.add_argument("--jobs", default=str(os.cpu_count()), help="compilers at a time [cores]")
    given = parser.parse_args()
    if subprocess.run(["ninja", "-C", given.build, "-j", given.jobs, "--quiet", "test_tarn"]).returncode:
        return 1
    golden = read()
    key, now = collect(given.build)
    before = golden.get(key, {})
    changed = sorted(kind for kind in now if before.get(kind, now[kind]) != now[kind])
    new, gone = sorted(now.keys() - before.keys()), sorted(before.keys() - now.keys())
    for what, kinds in (("changed", changed), ("new", new), ("gone", gone)):
        if kinds:
            print(f"golden_hashes: {what}: {' '.join(kinds)}")
    if given.show or not (changed or new or gone):
        print(f"golden_hashes: {len(now) - len(changed) - len(new)} of {len(now)} as in tests/golden_hashes.txt, [{key}]")
        return 1 if changed or new or gone else 0
    for hashes in golden.values():
        for kind in changed + gone:
            hashes.pop(kind, None)
    golden[key] = now
    write({key: hashes for key, hashes in golden.items() if hashes})
    print(f"golden_hashes: tests/golden_hashes.txt, [{key}]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
