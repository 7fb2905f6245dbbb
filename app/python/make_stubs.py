#!/usr/bin/python3
"""Writes the type stubs of the package: what __init__.pyi.in says, and an attribute for every row of the parameter table.

    make_stubs.py FILE
"""

import pathlib
import sys

import tarn

TYPES = {"number": "float", "integer": "int", "boolean": "bool", "text": "str", "choice": "str", "vector": "Any"}


def main():
    sections, members = {}, []
    for row in tarn.parameters():
        if row["section"] and "." not in row["section"]:
            sections.setdefault(row["section"], []).append(f"    {row['name']}: {TYPES[row['kind']]}")
    classes = []
    for name, lines in sections.items():
        kind = name.title() + "Section"
        classes.append(f"class {kind}:\n" + "\n".join(lines) + "\n")
        members.append(f"    {name}: {kind}")
    text = pathlib.Path(__file__).with_name("package").joinpath("__init__.pyi.in").read_text()
    text = text.replace("@SECTIONS@", "\n".join(classes)).replace("@SCENE@", "\n".join(members))
    pathlib.Path(sys.argv[1]).write_text(text)


main()
