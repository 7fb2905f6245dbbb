"""Tarn animates water: scenes and simulations for Python.

    import tarn
    scene = tarn.Scene("scenes/dam_break_2d.toml", {"domain.cells": 64})
    sim = tarn.Simulation(scene)
    for frame in sim.frames(30):
        print(frame, sim.time, sim.measures()["kinetic_energy"], sim.phi.min())

Units are SI, y is up, phi < 0 is water. Arrays are indexed [i, j] or [i, j, k] along x, y and z; velocity[a] sits on the faces of axis a and
has one value more along it. They look at the simulation's own memory: what is written there between two steps is what the next one starts
from, after changed(). A step may put a field elsewhere, so take arrays anew after it.
"""

import json as _json
import math as _math
import os as _os
import re as _re

from . import _tarn
from ._tarn import FileError, InputError, StepError, parameters, set_threads, threads

__all__ = ["FileError", "InputError", "Scene", "Simulation", "StepError", "parameters", "set_threads", "threads"]
__version__ = _tarn.version()


def _toml(value):
    """A value as TOML writes it. Keyframes are a list of tables, {"t": 0, "v": ...}."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _json.dumps(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(v)}" for key, v in value.items()) + "}"
    if hasattr(value, "__iter__"):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    number = float(value)
    if not _math.isfinite(number):
        raise InputError(f"{value}: not a finite number")
    return str(int(number)) if isinstance(value, int) or (number.is_integer() and not isinstance(value, float)) else repr(number)


def _tables(sections):
    """Keyword arguments as a scene file: a dict is a table, a list of dicts a table for each."""
    lines, tables = ["tarn = 1"], []
    for name, content in sections.items():
        if isinstance(content, dict):
            inner = {key: value for key, value in content.items() if isinstance(value, dict)}
            tables += [f"[{name}]"] + [f"{key} = {_toml(value)}" for key, value in content.items() if key not in inner]
            for key, table in inner.items():
                tables += [f"[{name}.{key}]"] + [f"{k} = {_toml(value)}" for k, value in table.items()]
        elif isinstance(content, (list, tuple)) and content and all(isinstance(entry, dict) for entry in content):
            for entry in content:
                tables += [f"[[{name}]]"] + [f"{key} = {_toml(value)}" for key, value in entry.items()]
        else:
            lines.append(f"{name} = {_toml(content)}")
    return "\n".join(lines + tables) + "\n"


def _python(text):
    """A value that Tarn wrote as TOML; keyframes come as a list of dicts."""
    if text is None:
        return None
    return _json.loads(_re.sub(r"(\b[a-z_]+) = ", r'"\1": ', text) if "{" in text else text)


class _Section:
    """The keys of one table of a scene, as attributes."""

    _keys = ()

    def __init__(self, scene):
        object.__setattr__(self, "_scene", scene)

    def __setattr__(self, name, value):
        if name not in self._keys:
            raise AttributeError(f"[{self._name}] has no key {name!r}; it has {', '.join(self._keys)}")
        type(self).__dict__[name].fset(self, value)

    def __repr__(self):
        return "\n".join(f"{self._name}.{key} = {getattr(self, key)!r}" for key in self._keys)


def _attribute(key, row):
    unit = f" [{row['unit']}]" if row["unit"] else ""
    words = f" One of {', '.join(row['words'])}." if row["words"] else ""
    default = "" if row["default"] is None else f" Default: {row['default']}."
    return property(lambda self: self._scene[key], lambda self, value: self._scene.__setitem__(key, value),
                    doc=f"{row['meaning']}{unit}{words}{default}")


def _make_sections():
    sections = {}
    for row in parameters():
        sections.setdefault(row["section"], []).append(row)
    made = {}
    for name, rows in sections.items():
        if not name:
            continue
        members = {row["name"]: _attribute(f"{name}.{row['name']}", row) for row in rows}
        kind = type(name.title().replace(".", "") + "Section", (_Section,),
                    {**members, "_keys": tuple(members), "_name": name, "__doc__": f"The table [{name}] of a scene."})
        made[name] = kind
    return made


_SECTIONS = _make_sections()


class Scene:
    """A scene: from a file, from text, or from keyword arguments that are its tables.

        Scene("scenes/dam_break_2d.toml", {"domain.cells": 64})
        Scene(text='tarn = 1 ...')
        Scene(domain={"size": [1, 1], "cells": 64}, water=[{"shape": "box", "min": [0, 0], "max": [0.4, 0.6]}])

    Every key is an attribute, scene.domain.cells, with its unit and meaning in the docstring, and an item, scene["domain.cells"]. What is set
    is checked at once; what is wrong raises InputError and changes nothing.
    """

    def __init__(self, path=None, settings=None, *, text=None, **sections):
        given = (path is not None) + (text is not None) + bool(sections)
        if given != 1:
            raise InputError("give a scene file, text=..., or tables as keyword arguments")
        overrides = [(key, _toml(value)) for key, value in (settings or {}).items()]
        if path is not None:
            self._scene = _tarn.Scene.from_file(_os.fspath(path), overrides)
        else:
            self._scene = _tarn.Scene(text if text is not None else _tables(sections), "scene", overrides)
        for name, kind in _SECTIONS.items():
            if "." not in name:
                setattr(self, name, kind(self))

    def __getitem__(self, key):
        return _python(self._scene.get(key))

    def __setitem__(self, key, value):
        self._scene.set(key, _toml(value))

    @property
    def dimension(self):
        """2 or 3."""
        return self._scene.dimension

    def __str__(self):
        """The scene file, with every parameter's value."""
        return self._scene.resolved()


class Simulation(_tarn.Simulation):
    """Water that moves by a scene. Raises StepError where a step fails even when it is four times halved."""

    def __init__(self, scene):
        super().__init__(scene._scene)

    def run(self, until, callback=None):
        """Steps until the time is `until`, exactly. `callback(self)` comes before every step: it may write to velocity, pressure and phi and must
        then call changed(). Returns how many steps there were. Ctrl-C stops between two steps, and the simulation can go on afterwards."""
        steps = 0
        while self.time < until:
            if callback is not None:
                callback(self)
            self.step(until=until)
            steps += 1
        return steps

    def frames(self, count=None, callback=None):
        """Goes from frame to frame, `count` of them or as many as the scene asks for, and yields the number of each."""
        first = round(self.time / self.frame_seconds)
        for frame in range(first + 1, first + 1 + (self.frame_count if count is None else count)):
            self.run(self.time_of(frame), callback)
            yield frame
