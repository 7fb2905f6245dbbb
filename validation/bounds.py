"""What physics allows in a scene file: how fast water can be that falls, is thrown, comes in or is pushed."""

import math


def keyframes(value):
    """[(t, v)] of a value that may vary in time."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [(key["t"], key["v"]) for key in value]
    return [(0.0, value)]


def length(v):
    return math.sqrt(sum(x * x for x in v)) if isinstance(v, (list, tuple)) else abs(v)


def reach(shape):
    """How far a shape goes from the origin, about which it turns."""
    if "min" in shape:
        return length([max(abs(a), abs(b)) for a, b in zip(shape["min"], shape["max"])])
    wide = [shape[key] for key in ("radius", "height", "major", "minor") if key in shape] + list(shape.get("radii", []))
    return shape.get("scale", 1.0) * (length(shape.get("center", [0.0])) + sum(wide))


def speed_of(solid):
    """The fastest that any of its points moves."""
    fastest = 0.0
    for key, arm in (("translate", 1.0), ("rotate", math.pi / 180 * reach(solid))):
        keys = keyframes(solid.get(key, 0.0))
        fastest += max([arm * length([b - a for a, b in zip(v, w)] if isinstance(v, list) else w - v) / (t - s)
                        for (s, v), (t, w) in zip(keys, keys[1:])] or [0.0])
    return fastest


def section_of(shape, dimension):
    """The smallest section of a box around it; a length in 2D."""
    if "min" in shape:
        extent = [b - a for a, b in zip(shape["min"], shape["max"])]
    elif "radii" in shape:
        extent = [2 * r for r in shape["radii"]]
    else:
        extent = [2 * shape.get("radius", shape.get("minor"))] * dimension
    return math.prod(sorted(extent)[:dimension - 1])


def fastest_expected(scene):
    """sqrt(2 g H) of a fall through the domain, plus what is thrown or comes in, plus what solids push. A solitary wave of height a over
    depth d moves at c = sqrt(g (d + a)), the water in its crest at c a / (d + a)."""
    size = scene["domain"]["size"]
    default = [0.0, -9.81, 0.0]
    fall = max(sum(abs(g) * s for g, s in zip(v, size)) for _, v in keyframes(scene["domain"].get("gravity", default)))
    # Fields of force do work as gravity does, at most along the longest side.
    fall += max(size) * sum(max(length(v) for _, v in keyframes(force.get("acceleration", force.get("strength", 0.0))))
                            for force in scene.get("force", []))
    thrown = [length(w.get("velocity", [0.0])) for w in scene.get("water", [])]
    thrown += [math.sqrt(9.81 * (w["depth"] + w["height"])) * w["height"] / (w["depth"] + w["height"])
               for w in scene.get("water", []) if w["shape"] == "solitary_wave"]
    for source in scene.get("source", []):
        if "velocity" in source:
            thrown += [length(v) for _, v in keyframes(source["velocity"])]
        else:
            thrown += [v / section_of(source, len(size)) for _, v in keyframes(source["rate"])]
    pushed = [speed_of(solid) for solid in scene.get("solid", [])]
    if "motion" in scene["domain"]:  # its sides push as solids do
        pushed.append(speed_of({**scene["domain"]["motion"], "min": [0.0] * len(size), "max": size}))
    return math.sqrt(2 * fall) + max(thrown or [0.0]) + max(pushed or [0.0])


def only_gravity_works(scene):
    """Whether nothing but constant gravity does work on the water, whose energy is all that there is."""
    bodies = any(solid.get("motion") == "body" for solid in scene.get("solid", []))
    others = any(scene.get(key) for key in ("source", "sink", "wind", "flow", "force", "waves", "surface_pressure"))
    return not (bodies or others or "motion" in scene["domain"] or
                scene.get("fluid", {}).get("surface_tension") or
                "open" in scene["domain"].get("walls", {}).values() or
                len(keyframes(scene["domain"].get("gravity", [0.0]))) > 1 or any(speed_of(s) > 0 for s in scene.get("solid", [])))
