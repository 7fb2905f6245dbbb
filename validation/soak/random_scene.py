"""Random valid scenes of the kind that users write, and what physics allows in them.

`random_scene(seed)` draws one from a number, the same on every machine: water as pools, columns, drops and carved
bodies, with velocities; solids of every shape, thick, thin, slanted, hollow and moving; sources, sinks and open sides; any gravity, CFL
number, frame rate and method. What no simulator could do is not drawn: a closed box is never filled to its top, moving
solids keep away from walls and from each other, sources are not buried.
"""

import math
import random

SIDES = ("left", "right", "bottom", "top", "back", "front")
SURFACES = ("particle-level-set", "one-sided-particles", "level-set")
# "weno5" is a word for the surface; for the velocity there is no such scheme.
ADVECTIONS = ("semi-lagrangian", "semi-lagrangian-rk3", "maccormack", "cip", "linear")
# Cells times steps of one run: about 2 s on one core.
WORK = 1.0e6


class Scene:
    """The tables of a scene file, `water`, `solid`, `source` and `sink` as lists, and what is known about them."""

    def __init__(self, seed, dimension):
        self.seed = seed
        self.dimension = dimension
        self.tables = {}  # [name] -> {key: value}
        self.lists = {"water": [], "solid": [], "source": [], "sink": []}

    def get(self, name, key, otherwise=None):
        return self.tables.get(name, {}).get(key, otherwise)

    def set(self, name, key, value):
        self.tables.setdefault(name, {})[key] = value

    @property
    def size(self):
        return self.tables["domain"]["size"]

    @property
    def h(self):
        return max(self.size) / self.tables["domain"]["cells"]

    @property
    def duration(self):
        return self.get("time", "frames") / self.get("time", "rate")

    def text(self):
        lines = ["tarn = 1", f'title = "Random scene {self.seed}"']
        for name, table in self.tables.items():
            if table:
                lines += ["", f"[{name}]"] + [f"{key} = {toml(value)}" for key, value in table.items()]
        for name, entries in self.lists.items():
            for entry in entries:
                lines += ["", f"[[{name}]]"] + [f"{key} = {toml(value)}" for key, value in entry.items() if key[0] != "_"]
        return "\n".join(lines) + "\n"


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(v)}" for key, v in value.items()) + "}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def keyframes(value):
    """[(t, v)] of a number, a vector or keyframes."""
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], dict):
        return [(key["t"], key["v"]) for key in value]
    return [(0.0, value)]


def at(value, t):
    keys = keyframes(value)
    if t <= keys[0][0]:
        return keys[0][1]
    for (t0, v0), (t1, v1) in zip(keys, keys[1:]):
        if t <= t1:
            s = (t - t0) / (t1 - t0)
            mix = lambda a, b: a + s * (b - a)
            return [mix(a, b) for a, b in zip(v0, v1)] if isinstance(v0, (list, tuple)) else mix(v0, v1)
    return keys[-1][1]


def integral(value, end):
    """Of a number with keyframes, from 0 to `end`."""
    n = 400
    return sum(at(value, (i + 0.5) * end / n) for i in range(n)) * end / n


# Shapes: whether a point lies inside. Points have as many numbers as the scene has dimensions.

def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def norm(a):
    return math.sqrt(dot(a, a))


def turned_back(point, rotate):
    """The point before a rotation about x, then y, then z; in 2D by one angle."""
    if isinstance(rotate, (int, float)):
        c, s = math.cos(math.radians(rotate)), math.sin(math.radians(rotate))
        return [c * point[0] + s * point[1], -s * point[0] + c * point[1]]
    p = list(point)
    for axis in (2, 1, 0):
        c, s = math.cos(math.radians(rotate[axis])), math.sin(math.radians(rotate[axis]))
        i, j = (axis + 1) % 3, (axis + 2) % 3
        p[i], p[j] = c * p[i] + s * p[j], -s * p[i] + c * p[j]
    return p


def inside(shape, point, t=0.0):
    p = [x - m for x, m in zip(point, at(shape["translate"], t))] if "translate" in shape else list(point)
    if "rotate" in shape:
        p = turned_back(p, at(shape["rotate"], t))
    kind = shape["shape"]
    if kind == "box":
        return all(lo < x < hi for lo, x, hi in zip(shape["min"], p, shape["max"]))
    if kind == "plane":
        return dot([x - q for x, q in zip(p, shape["point"])], shape["normal"]) < 0
    d = [x - c for x, c in zip(p, shape["center"])]
    if kind == "sphere":
        return norm(d) < shape["radius"]
    if kind == "ellipsoid":
        return norm([x / r for x, r in zip(d, shape["radii"])]) < 1
    axis = shape.get("axis", [0, 1, 0][:len(p)])
    along = dot(d, axis) / norm(axis)
    across = math.sqrt(max(0.0, dot(d, d) - along * along))
    if kind == "cylinder":
        return abs(along) < 0.5 * shape["height"] and across < shape["radius"]
    if kind == "cone":
        return 0 < along < shape["height"] and across < shape["radius"] * (1 - along / shape["height"])
    return math.hypot(across - shape["major"], along) < shape["minor"]  # torus


def turned(point, rotate):
    """The other way round."""
    if isinstance(rotate, (int, float)):
        return turned_back(point, -rotate)
    p = list(point)
    for axis in (0, 1, 2):
        c, s = math.cos(math.radians(rotate[axis])), math.sin(math.radians(rotate[axis]))
        i, j = (axis + 1) % 3, (axis + 2) % 3
        p[i], p[j] = c * p[i] - s * p[j], s * p[i] + c * p[j]
    return p


def points_of(shape, size):
    """Points all over a fixed shape: of a box on its own grid, so that thin ones have some, too."""
    if shape["shape"] != "box":
        return [p for p in sample_points(size, 24 if len(size) == 2 else 12) if inside(shape, p)]
    points = [[]]
    for lo, hi in zip(shape["min"], shape["max"]):
        points = [p + [lo + (i + 0.5) * (hi - lo) / 8] for p in points for i in range(8)]
    if "rotate" in shape:
        points = [turned(p, shape["rotate"]) for p in points]
    if "translate" in shape:
        points = [[x + m for x, m in zip(p, shape["translate"])] for p in points]
    return points


def distance_to_path(point, ends):
    way = [b - a for a, b in zip(*ends)]
    there = [x - a for x, a in zip(point, ends[0])]
    part = min(1.0, max(0.0, dot(there, way) / dot(way, way))) if dot(way, way) > 0 else 0.0
    return norm([x - part * w for x, w in zip(there, way)])


def within(shapes, point, t=0.0):
    """Whether the point lies in shapes, each united with or cut from those before it."""
    found = False
    for shape in shapes:
        if shape.get("subtract"):
            found = found and not inside(shape, point, t)
        else:
            found = found or inside(shape, point, t)
    return found


def sample_points(size, n=12):
    points = [[]]
    for length in size:
        points = [p + [(i + 0.5) * length / n] for p in points for i in range(n)]
    return points


class Maker:
    """Draws one scene."""

    def __init__(self, seed, phases, work):
        self.rng = random.Random(seed * 2 + (1 if phases else 0))
        self.phases = phases
        self.work = work
        self.scene = Scene(seed, 3 if self.chance(0.3) else 2)

    def chance(self, p):
        return self.rng.random() < p

    def uniform(self, a, b):
        return round_off(a + (b - a) * self.rng.random())

    def spread(self, a, b):
        """Evenly in its logarithm."""
        return round_off(a * (b / a) ** self.rng.random())

    def pick(self, values):
        return values[int(self.rng.random() * len(values))]

    def direction(self):
        while True:
            v = [self.uniform(-1, 1) for _ in range(self.dimension)]
            if 0.1 < norm(v) < 1:
                return [round_off(x / norm(v)) for x in v]

    @property
    def dimension(self):
        return self.scene.dimension

    def make(self):
        scene = self.scene
        self.make_domain()
        for _ in range(50):
            scene.lists = {"water": [], "solid": [], "source": [], "sink": []}
            self.make_solids()
            self.make_water()
            self.make_flows()
            if self.sensible():
                break
        else:
            return None
        self.make_methods()
        self.make_time()
        scene.tables["output"] = {"preview": False, "surface": "none", "particles": False}
        return scene

    def make_domain(self):
        length = self.spread(0.03, 80)
        size = [length] + [self.uniform(0.45, 1) * length for _ in range(self.dimension - 1)]
        if self.dimension == 2 and self.chance(0.4):
            size.reverse()
        size = [round_off(x) for x in size]
        cells = int(self.uniform(40, 97)) if self.dimension == 2 else int(self.uniform(22, 37))
        self.scene.tables["domain"] = {"size": size, "cells": cells}
        self.size, self.h = size, max(size) / cells
        kind = self.rng.random()
        g = 9.81 if kind < 0.6 else self.spread(1, 30)
        self.g = g
        down = [0.0, -g, 0.0][:self.dimension]
        if 0.8 < kind < 0.92:  # leaning
            lean = self.direction()
            lean[1] = -2.0
            down = [round_off(g * x / norm(lean)) for x in lean]
        self.down = down
        if kind > 0.95:  # turned in half a second's worth of falling
            turned = [round_off(0.7 * g * x) for x in self.direction()]
            when = round_off(self.fall_time())
            self.scene.set("domain", "gravity", [{"t": 0, "v": down}, {"t": when, "v": down},
                                                 {"t": round_off(1.5 * when), "v": turned}])
        elif kind >= 0.6:
            self.scene.set("domain", "gravity", down)
        self.open = []
        sides = SIDES[:2 * self.dimension]
        if self.chance(0.35):
            self.open = ["top"] if self.chance(0.6) else [self.pick(sides)]
            if self.chance(0.2):
                self.open.append(self.pick(sides))
            for side in self.open:
                self.scene.set("domain.walls", side, "open")
        self.viscous = self.chance(0.1)
        if self.viscous:
            self.scene.set("fluid", "viscosity", round_off(self.spread(1e-5, 1e-2) * math.sqrt(g * size[1] ** 3)))
            for side in sides:
                if side not in self.open and self.chance(0.3):
                    self.scene.set("domain.walls", side, "no-slip")

    def fall_time(self):
        return math.sqrt(2 * self.size[1] / self.g)

    def speed(self, low, high):
        """A part of the speed of a fall from top to bottom."""
        return self.uniform(low, high) * math.sqrt(2 * self.g * self.size[1])

    def spot(self, margin=0.1):
        return [self.uniform(margin * s, (1 - margin) * s) for s in self.size]

    def blob(self, center, low, high, cells=4):
        """A shape of about these parts of the domain, and so many cells at least."""
        extent = [max(round_off(self.uniform(low, high) * s), round_off(cells * self.h)) for s in self.size]
        least = min(extent)
        kind = self.pick(("box", "box", "sphere", "sphere", "ellipsoid", "cylinder", "cone", "torus"))
        if kind == "box":
            shape = {"shape": "box", "min": [c - 0.5 * e for c, e in zip(center, extent)],
                     "max": [c + 0.5 * e for c, e in zip(center, extent)]}
            shape["min"] = [round_off(x) for x in shape["min"]]
            shape["max"] = [round_off(x) for x in shape["max"]]
            return shape
        if kind == "sphere":
            return {"shape": "sphere", "center": center, "radius": round_off(0.5 * least)}
        if kind == "ellipsoid":
            return {"shape": "ellipsoid", "center": center, "radii": [round_off(0.5 * e) for e in extent]}
        axis = self.direction() if self.chance(0.5) else self.pick([[0, 1, 0], [1, 0, 0]])[:self.dimension]
        if kind == "torus":
            minor = max(0.2 * least, 0.4 * cells * self.h)
            return {"shape": "torus", "center": center, "major": round_off(max(0.4 * least, 2 * minor)), "minor": round_off(minor),
                    "axis": axis}
        return {"shape": kind, "center": center, "radius": round_off(0.5 * least), "height": round_off(self.pick(extent)),
                "axis": axis}

    def make_water(self):
        water = self.scene.lists["water"]
        s = self.size
        kind = self.rng.random()
        level = max(self.uniform(0.12, 0.5) * s[1], 6 * self.h)
        low, high = [round_off(-0.1 * x) for x in s], [round_off(1.1 * x) for x in s]
        if kind < 0.4:  # a pool
            water.append({"shape": "box", "min": low, "max": [high[0], round_off(level)] + high[2:]})
            if self.chance(0.25):  # with a bubble in it
                hole = self.blob([x if a != 1 else round_off(0.5 * level) for a, x in enumerate(self.spot(0.2))], 0.05, 0.2)
                water.append({**hole, "subtract": True})
        elif kind < 0.65:  # a column at a side
            wide = round_off(self.uniform(0.2, 0.5) * s[0])
            tall = round_off(self.uniform(0.3, 0.8) * s[1])
            x = [low[0], wide] if self.chance(0.5) else [round_off(s[0] - wide), high[0]]
            deep = round_off(s[2] * self.uniform(0.3, 1.1)) if self.dimension == 3 else 0
            water.append({"shape": "box", "min": [x[0], low[1]] + low[2:], "max": [x[1], tall] + ([deep] if deep else [])})
        elif kind < 0.8 or not water:  # somewhere
            water.append(self.blob(self.spot(0.2), 0.15, 0.5, 8))
        if self.chance(0.45):  # a drop above it
            center = self.spot(0.15)
            center[1] = round_off(self.uniform(0.5, 0.9) * s[1])
            water.append(self.blob(center, 0.1, 0.3, 8))
        for entry in water:
            if not entry.get("subtract") and self.chance(0.25):
                v = self.speed(0.1, 1)
                entry["velocity"] = [round_off(v * x) for x in self.direction()]

    def make_solids(self):
        solids = self.scene.lists["solid"]
        self.rims = []  # of moving solids: middle, reach, path
        if self.chance(0.3):
            return
        for _ in range(1 + int(3 * self.rng.random())):
            entries = self.solid()
            if self.viscous and self.chance(0.5):
                entries[0]["no_slip"] = True
            solids.extend(entries)

    def solid(self):
        s, h = self.size, self.h
        kind = self.rng.random()
        if kind < 0.22:
            return [self.blob(self.spot(0.05), 0.08, 0.35)]
        if kind < 0.32:  # a block on the floor
            wide, tall, x = self.uniform(0.05, 0.3) * s[0], self.uniform(0.1, 0.5) * s[1], self.uniform(0, 0.8) * s[0]
            z = [self.uniform(-0.2, 0.4) * s[2], self.uniform(0.6, 1.2) * s[2]] if self.dimension == 3 else []
            return [{"shape": "box", "min": [round_off(v) for v in [x, -0.1 * s[1]] + z[:1]],
                     "max": [round_off(v) for v in [x + max(wide, 2 * h), tall] + z[1:]]}]
        if kind < 0.55:  # a slanted or upright wall, often thin
            thick = 0.5 * (self.spread(0.1, 1) if self.chance(0.6) else self.uniform(1, 4)) * h
            length = self.uniform(0.2, 0.7) * s[1]
            wall = {"shape": "box", "min": [-thick, 0.0], "max": [thick, length], "translate": self.spot(0.15)}
            wall["translate"][1] = self.uniform(-0.1, 0.5) * s[1]
            turn = self.pick((0.0, 90.0)) if self.chance(0.3) else self.uniform(-90, 90)
            wall["rotate"] = turn
            if self.dimension == 3:
                wall["min"].append(-0.7 * s[2])
                wall["max"].append(0.7 * s[2])
                wall["rotate"] = [self.uniform(-40, 40) if self.chance(0.5) else 0.0, self.uniform(-30, 30), turn]
            for key in ("min", "max", "translate"):
                wall[key] = [round_off(x) for x in wall[key]]
            wall["_thin"] = 2 * thick < h
            return [wall]
        if kind < 0.68:  # a slope
            normal = self.direction()
            normal[1] = abs(normal[1]) + 0.1
            point = self.spot(0.0)
            point[1] = self.uniform(0, 0.3) * s[1]
            return [{"shape": "plane", "point": point, "normal": [round_off(x) for x in normal]}]
        if kind < 0.78:  # a cup, any way up
            wide = max(0.5 * self.uniform(0.2, 0.45) * s[0], 5 * h)
            tall = max(0.5 * self.uniform(0.2, 0.5) * s[1], 5 * h)
            wall = self.uniform(0.3, 3) * h
            place = {"translate": self.spot(0.2)}
            turn = self.pick((0.0, 180.0)) if self.chance(0.4) else self.uniform(-180, 180)
            place["rotate"] = turn if self.dimension == 2 else [0.0, self.uniform(-90, 90), turn]
            outer = {"shape": "box", "min": [-wide, -tall], "max": [wide, tall], **place}
            inner = {"shape": "box", "min": [wall - wide, wall - tall], "max": [wide - wall, 3 * tall], **place}
            if self.dimension == 3:
                for entry, deep in ((outer, wide), (inner, wide - wall)):
                    entry["min"] = entry["min"] + [-deep]
                    entry["max"] = entry["max"] + [deep]
            for entry in (outer, inner):
                entry["min"] = [round_off(x) for x in entry["min"]]
                entry["max"] = [round_off(x) for x in entry["max"]]
            outer["_thin"] = wall < h
            # What stands before it is cut as well where it reaches into the cup, as for any user.
            return [outer, {**inner, "subtract": True}]
        moving = self.moving_solid()
        return [moving] if moving else [self.blob(self.spot(0.05), 0.08, 0.35)]

    def moving_solid(self):
        """Built around the origin, it swings to and fro, or is a paddle that turns. It keeps clear of walls and other moving solids by a
        tenth of the domain, since water that is squeezed out of a closing gap may be as fast as it likes."""
        s = self.size
        clear = max(0.1 * min(s), 4 * self.h)
        for _ in range(20):
            origin = [0.0] * self.dimension
            if self.chance(0.3):
                half = self.uniform(0.1, 0.2) * min(s)
                thick = self.uniform(0.3, 2) * self.h
                body = {"shape": "box", "min": [-thick, -half] + [-half] * (self.dimension - 2),
                        "max": [thick, half] + [half] * (self.dimension - 2), "_thin": 2 * thick < self.h}
                body["min"] = [round_off(x) for x in body["min"]]
                body["max"] = [round_off(x) for x in body["max"]]
                reach = norm(body["max"])
            else:
                body = self.blob(origin, 0.1, 0.25)
                if body["shape"] == "cone":
                    continue
                reach = {"box": lambda: norm(body["max"]), "sphere": lambda: body["radius"], "ellipsoid": lambda: max(body["radii"]),
                         "cylinder": lambda: math.hypot(body["radius"], 0.5 * body["height"]),
                         "torus": lambda: body["major"] + body["minor"]}[body["shape"]]()
            room = [(reach + clear, x - reach - clear) for x in s]
            if any(a >= b for a, b in room):
                continue
            ends = [[round_off(a + (b - a) * self.rng.random()) for a, b in room] for _ in range(2)]
            way = norm([b - a for a, b in zip(*ends)])
            middle = [0.5 * (a + b) for a, b in zip(*ends)]
            if any(norm([a - b for a, b in zip(middle, m)]) < reach + r + 0.5 * (way + w) + clear for m, r, w in self.rims):
                continue
            turns = self.chance(0.4)
            period = round_off(way / self.speed(0.05, 0.6) + 0.2 * self.fall_time())
            start = round_off(self.uniform(0, 0.5) * self.fall_time())
            if turns:
                ends[1], way = ends[0], 0.0
                rate = self.speed(0.05, 0.5) / reach * 180 / math.pi  # degrees a second
                angle = round_off(rate * period)
                turn = [0.0, angle, -angle]
                if self.dimension == 3:
                    turn = [[0.0, 0.0, a] for a in turn]
                body["translate"] = ends[0]
                body["rotate"] = [{"t": round_off(start + i * period), "v": turn[j]} for i, j in enumerate((0, 1, 2, 1, 2))]
                body["_speed"] = 2 * rate * math.pi / 180 * reach
            else:
                body["translate"] = [{"t": round_off(start + i * period), "v": ends[i % 2]} for i in range(5)]
                body["_speed"] = way / period
            self.rims.append((middle, reach, way))
            body["_path"], body["_reach"] = ends, reach
            # A solid that water has to pass on all sides speeds it up by what it takes of the section.
            body["_block"] = 1 / max(0.2, 1 - (2 * reach / min(s)) ** (self.dimension - 1))
            return body
        return None

    def make_flows(self):
        lists, s, h = self.scene.lists, self.size, self.h
        if self.chance(0.35):
            for _ in range(1 if self.chance(0.8) else 2):
                lists["source"].append(self.source())
        if self.chance(0.15):
            sink = self.blob(self.spot(0.05), 0.08, 0.25)
            if self.chance(0.5):
                sink = {"shape": "box", "min": [round_off(-0.1 * x) for x in s],
                        "max": [round_off(self.uniform(0.1, 0.4) * s[0]), round_off(max(0.06 * s[1], 3 * h))] +
                        [round_off(1.1 * x) for x in s[2:]]}
            if self.chance(0.5):
                v = self.speed(0.05, 0.3)
                sink["rate"] = round_off(v * smallest_section(sink, s, h))
                sink["_speed"] = v
            lists["sink"].append(sink)

    def source(self):
        s, h = self.size, self.h
        center = self.spot(0.03)
        radius = max(0.5 * self.uniform(0.06, 0.18) * min(s), 2 * h)
        kind = self.pick(("box", "sphere", "cylinder"))
        v = self.speed(0.1, 0.9)
        push = self.direction() if self.chance(0.6) else self.pick([[0, -1, 0], [1, 0, 0], [-1, 0, 0], [0, 1, 0]])[:self.dimension]
        if kind == "box":
            shape = {"shape": "box", "min": [round_off(c - radius) for c in center], "max": [round_off(c + radius) for c in center]}
        elif kind == "sphere":
            shape = {"shape": "sphere", "center": center, "radius": round_off(radius)}
        else:
            shape = {"shape": "cylinder", "center": center, "radius": round_off(radius), "height": round_off(2 * radius), "axis": push}
        stops = round_off(self.fall_time() * self.uniform(0.5, 3)) if self.chance(0.3) else None
        section = (2 * radius) if self.dimension == 2 else (4 * radius ** 2)
        if self.chance(0.5):
            velocity = [round_off(v * x) for x in push]
            shape["velocity"] = velocity if stops is None else [
                {"t": 0, "v": velocity}, {"t": stops, "v": velocity}, {"t": round_off(1.05 * stops), "v": [0.0] * self.dimension}]
        else:
            rate = round_off(v * section)
            shape["rate"] = rate if stops is None else [
                {"t": 0, "v": rate}, {"t": stops, "v": rate}, {"t": round_off(1.05 * stops), "v": 0.0}]
        shape["_speed"] = v
        shape["_inflow"] = v * section
        shape["_center"] = center
        shape["_stops"] = stops
        return shape

    def sensible(self):
        """Water fills at most 0.6 of what solids leave, at the start and with what sources bring; sources are not buried."""
        scene, s = self.scene, self.size
        points = sample_points(s, 24 if self.dimension == 2 else 12)
        free = [p for p in points if not within(scene.lists["solid"], p)]
        wet = [p for p in free if within(scene.lists["water"], p)]
        cell = math.prod(s) / len(points)
        self.free, self.wet = len(free) * cell, len(wet) * cell
        if self.free < 0.4 * math.prod(s) or self.wet > 0.6 * self.free:
            return False
        if not scene.lists["source"] and self.wet < 0.02 * self.free:
            return False
        for entry in scene.lists["water"]:  # not hidden in a solid or outside
            if not entry.get("subtract") and not any(inside(entry, p) for p in free):
                return False
        for entry in scene.lists["source"] + scene.lists["sink"]:
            near = [p for p in points if inside(entry, p)]
            if not near and "_center" in entry:
                near = [entry["_center"]]
            if not near or sum(not within(scene.lists["solid"], p) for p in near) < 0.5 * len(near):
                return False
        fixed = [p for e in scene.lists["solid"] if "_speed" not in e and not e.get("subtract") for p in points_of(e, s)]
        for entry in scene.lists["solid"]:
            if "_speed" in entry and any(distance_to_path(p, entry["_path"]) < entry["_reach"] + 4 * self.h for p in fixed):
                return False  # water caught between them could not get out
        if self.phases and scene.lists["source"] and not self.open:
            return False  # nothing gives way to the water that comes in
        return True

    def make_methods(self):
        scene = self.scene
        if self.phases:
            scene.set("method", "phases", "water-air")
            if self.chance(0.5):
                scene.set("method", "interface", "sharp")
            if self.chance(0.7):
                scene.set("method", "surface", "level-set")
                if self.chance(0.7):
                    scene.set("method", "advection", "cip")
                    scene.set("surface", "advection", "cip")
            if self.chance(0.2):
                scene.set("surface", "carry_volume", True)
        elif self.chance(0.4):
            if self.chance(0.5):
                scene.set("method", "surface", self.pick(SURFACES))
            if self.chance(0.5):
                scene.set("method", "advection", self.pick(ADVECTIONS))
            if self.chance(0.5):
                scene.set("surface", "advection", self.pick(ADVECTIONS + ("weno5",)))
            if self.chance(0.15):
                scene.set("surface", "distance", "reinitialize")
            if self.chance(0.2):
                scene.set("surface", "particles_per_cell", self.pick((4, 16)))
        if self.chance(0.35):
            scene.set("surface", "volume_correction", False)
        if self.chance(0.1):
            scene.set("surface", "spray", False)
        if self.chance(0.05):
            scene.set("pressure", "solver", "mic0")
        if not self.phases and self.chance(0.04):
            scene.set("wind", "velocity", [round_off(self.speed(0.2, 1) * x) for x in self.direction()])
        if self.chance(0.04):
            scene.set("fluid", "surface_tension", 0.072)

    def make_time(self):
        scene, s = self.scene, self.size
        cfl = 2.0 if self.chance(0.4) else self.spread(0.5, 5)
        if cfl != 2.0:
            scene.set("time", "cfl", cfl)
        length = self.uniform(2, 4) * self.fall_time()
        # A closed box is not filled to its top: sources end before.
        room = 0.65 * self.free - self.wet
        for source in scene.lists["source"]:
            length = min(length, max(room, 0.05 * self.free) / len(scene.lists["source"]) / source["_inflow"])
        bound = speed_bound(scene)
        cells = math.prod(max(4, round(x / self.h)) for x in s)
        steps = length * 0.7 * bound / self.h / cfl
        if steps * cells > self.work:  # fewer cells first, then less time
            shrink = max(0.6, (self.work / (steps * cells)) ** (1 / (self.dimension + 1)))
            scene.tables["domain"]["cells"] = max(int(shrink * scene.tables["domain"]["cells"]), 20 if self.dimension == 3 else 32)
            h = max(s) / scene.tables["domain"]["cells"]
            cells = math.prod(max(4, round(x / h)) for x in s)
            steps = length * 0.7 * bound / h / cfl
            length *= min(1.0, max(0.4, self.work / (steps * cells)))
        rate = self.pick((24, 24, 30, 30, 48, 60, 120))
        if length * rate > 150:
            rate = max(1, int(150 / length))
        if length * rate < 6:
            rate = int(6 / length) + 1
        scene.set("time", "frames", max(2, round(length * rate)))
        scene.set("time", "rate", rate)


def round_off(x):
    """To four digits, as people write numbers."""
    return float(f"{x:.4g}")


def smallest_section(shape, size, h):
    """Of a box that holds the shape, within the domain; per depth in 2D."""
    if shape["shape"] == "box":
        extent = [min(b, s) - max(a, 0.0) for a, b, s in zip(shape["min"], shape["max"], size)]
    elif shape["shape"] == "ellipsoid":
        extent = [2 * r for r in shape["radii"]]
    elif shape["shape"] == "torus":
        extent = [2 * shape["minor"]] * len(size)
    else:
        extent = [2 * shape["radius"]] * len(size)
    extent = sorted(max(e, 2 * h) for e in extent)
    return math.prod(extent[:len(size) - 1])


def speed_bound(scene):
    """How fast water can be that falls through the whole domain after it was thrown, pushed by solids or came in: the larger of
    gravity's directions, potential flow around bodies at twice their speed, more where they block the way."""
    fall = max(sum(abs(g) * s for g, s in zip(v, scene.size)) for _, v in
               keyframes(scene.get("domain", "gravity", [0.0, -9.81, 0.0][:scene.dimension])))
    thrown = max([norm(w.get("velocity", [0.0])) for w in scene.lists["water"]] or [0.0])
    come = max([e["_speed"] for e in scene.lists["source"] + scene.lists["sink"] if "_speed" in e] or [0.0])
    pushed = max([2 * e["_speed"] * e["_block"] for e in scene.lists["solid"] if "_speed" in e] or [0.0])
    blown = norm(scene.get("wind", "velocity", [0.0]))
    return math.sqrt(2 * fall + (max(thrown, come) + pushed + blown) ** 2)


def keeps_energy(scene):
    """Whether nothing does work on the water but constant gravity."""
    return not (scene.lists["source"] or scene.lists["sink"] or "wind" in scene.tables or
                scene.get("fluid", "surface_tension") or
                any("_speed" in e for e in scene.lists["solid"]) or
                any(word == "open" for word in scene.tables.get("domain.walls", {}).values()) or
                len(keyframes(scene.get("domain", "gravity", [0.0]))) > 1)


def inflow_expected(scene, end):
    """What sources by rate bring until then, where nothing else changes the volume; None where something does."""
    if scene.lists["sink"] or "open" in scene.tables.get("domain.walls", {}).values():
        return None
    if any("rate" not in s for s in scene.lists["source"]):
        return None
    return sum(integral(s["rate"], end) for s in scene.lists["source"])


def tags(scene):
    """What is in it, for a reader of a report."""
    found = [f"{scene.dimension}D"]
    if scene.get("method", "phases"):
        found.append("air " + scene.get("method", "interface", "smeared"))
    for source in scene.lists["source"]:
        place = source.get("_center") or [0.0] * scene.dimension
        where = "water" if within(scene.lists["water"], place) else "air"
        found.append(f"{'rate' if 'rate' in source else 'jet'} in {where}")
    for sink in scene.lists["sink"]:
        found.append("sink by rate" if "rate" in sink else "sink")
    for solid in scene.lists["solid"]:
        if solid.get("subtract"):
            found[-1] = found[-1].replace("box", "cup")
            continue
        found.append(("thin " if solid.get("_thin") else "") + ("moving " if "_speed" in solid else "") + solid["shape"])
    if any(w.get("subtract") for w in scene.lists["water"]):
        found.append("bubble")
    if any("velocity" in w for w in scene.lists["water"]):
        found.append("thrown")
    found += [f"open {side}" for side, word in scene.tables.get("domain.walls", {}).items() if word == "open"]
    if len(keyframes(scene.get("domain", "gravity", [0.0]))) > 1:
        found.append("turned gravity")
    if "wind" in scene.tables:
        found.append("wind")
    if scene.get("fluid", "viscosity"):
        found.append("viscous")
    if scene.get("fluid", "surface_tension"):
        found.append("tension")
    for name, key in (("method", "surface"), ("method", "advection"), ("surface", "advection"), ("surface", "distance"),
                      ("pressure", "solver")):
        if scene.get(name, key):
            found.append(("surface " if (name, key) == ("surface", "advection") else "") + scene.get(name, key))
    if scene.get("surface", "carry_volume"):
        found.append("carried volume")
    if scene.get("surface", "volume_correction") is False:
        found.append("uncorrected")
    if scene.get("surface", "spray") is False:
        found.append("no spray")
    found.append(f"cfl {scene.get('time', 'cfl', 2.0):g}")
    return found


def random_scene(seed, phases=False, work=WORK):
    """The scene of a seed. Where no sensible one comes of it, the next stream of random numbers is taken."""
    for again in range(1000):
        scene = Maker(seed + 1000003 * again, phases, work).make()
        if scene:
            scene.seed = seed
            return scene
    raise RuntimeError(f"no scene for seed {seed}")
