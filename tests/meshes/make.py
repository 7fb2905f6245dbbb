#!/usr/bin/python3
"""Writes the meshes of this folder: boxes of 0.2 x 0.3 x 0.4 m with a corner at (0.3, 0.2, 0.1), each as another program might.

    tests/meshes/make.py

| file | what is special |
|---|---|
| box.obj | quads, with normals and texture coordinates |
| box.ply | text, with colours |
| ascii.stl | normals point inwards, and corners run the other way around |
| millimetres.stl | binary, in millimetres |
| box.glb | a node that is moved and scaled |
| box.gltf | its buffer inside, as base64 |
| ascii.fbx | in centimetres, as the file says |
| binary.fbx | in metres, as the file says |
| box.dae | two parts, above each other, in centimetres and with z up |
| open.dae | one face is missing |
"""

import base64
import json
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
LO, HI = (0.3, 0.2, 0.1), (0.5, 0.5, 0.5)
QUADS = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]


def corners(lo=LO, hi=HI):
    return [(hi[0] if i & 1 else lo[0], hi[1] if i & 2 else lo[1], hi[2] if i & 4 else lo[2]) for i in range(8)]


def triangles(quads=QUADS):
    return [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]


def normal(a, b, c):
    u, v = [[q[i] - p[i] for i in range(3)] for p, q in ((a, b), (a, c))]
    n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    size = sum(x * x for x in n) ** 0.5
    return [x / size for x in n]


def obj():
    points = corners()
    text = "# a box\no box\n" + "".join("v %g %g %g\n" % p for p in points) + "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
    for n, quad in enumerate(QUADS):
        text += "vn %g %g %g\n" % tuple(normal(*[points[i] for i in quad[:3]]))
        text += "f " + " ".join(f"{c + 1}/{i + 1}/{n + 1}" for i, c in enumerate(quad)) + "\n"
    (HERE / "box.obj").write_text(text)


def ply():
    head = ["ply", "format ascii 1.0", "element vertex 8", *[f"property float {c}" for c in "xyz"],
            *[f"property uchar {c}" for c in ("red", "green", "blue")], "element face 6",
            "property list uchar uint vertex_indices", "end_header"]
    body = ["%g %g %g 200 100 50" % p for p in corners()] + ["4 %d %d %d %d" % q for q in QUADS]
    (HERE / "box.ply").write_text("\n".join(head + body) + "\n")


def stl():
    points = corners()
    text = "solid box\n"
    for a, b, c in triangles():
        corner = [points[i] for i in (c, b, a)]
        text += "facet normal %g %g %g\nouter loop\n" % tuple(normal(*corner))
        text += "".join("vertex %g %g %g\n" % p for p in corner) + "endloop\nendfacet\n"
    (HERE / "ascii.stl").write_text(text + "endsolid box\n")
    points = [[1000 * x for x in p] for p in points]
    data = bytes(80) + struct.pack("<I", 12)
    for t in triangles():
        corner = [points[i] for i in t]
        data += struct.pack("<12fH", *normal(*corner), *[x for p in corner for x in p], 0)
    (HERE / "millimetres.stl").write_bytes(data)


def gltf_json(points, buffer, node):
    flat = [x for p in points for x in p]
    return {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, **node}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3",
                           "min": [min(flat[a::3]) for a in range(3)], "max": [max(flat[a::3]) for a in range(3)]},
                          {"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"}],
            "bufferViews": [{"buffer": 0, "byteLength": 96}, {"buffer": 0, "byteOffset": 96, "byteLength": 72}],
            "buffers": [{"byteLength": 168, **buffer}]}


def gltf():
    def data(points):
        return struct.pack("<24f", *[x for p in points for x in p]) + struct.pack("<36H", *[i for t in triangles() for i in t])

    points = corners()
    text = base64.b64encode(data(points)).decode()
    whole = gltf_json(points, {"uri": "data:application/octet-stream;base64," + text}, {})
    (HERE / "box.gltf").write_text(json.dumps(whole, indent=1) + "\n")
    unit = corners((0, 0, 0), (1, 1, 1))
    node = {"translation": list(LO), "scale": [h - l for l, h in zip(LO, HI)]}
    head = json.dumps(gltf_json(unit, {}, node)).encode()
    head += b" " * (-len(head) % 4)
    chunks = struct.pack("<I4s", len(head), b"JSON") + head + struct.pack("<I4s", 168, b"BIN\0") + data(unit)
    (HERE / "box.glb").write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)


def fbx():
    points = ",".join("%g" % (100 * x) for p in corners() for x in p)
    # The last corner of a polygon is the complement of its index.
    faces = ",".join(str(c if i < 3 else ~c) for quad in QUADS for i, c in enumerate(quad))
    (HERE / "ascii.fbx").write_text(f"""; FBX 7.3.0 project file
FBXHeaderExtension:  {{
	FBXHeaderVersion: 1003
	FBXVersion: 7300
}}
GlobalSettings:  {{
	Version: 1000
	Properties70:  {{
		P: "UpAxis", "int", "Integer", "",1
		P: "UnitScaleFactor", "double", "Number", "",1
	}}
}}
Definitions:  {{
	Version: 100
	Count: 3
	ObjectType: "GlobalSettings" {{
		Count: 1
	}}
	ObjectType: "Geometry" {{
		Count: 1
	}}
	ObjectType: "Model" {{
		Count: 1
	}}
}}
Objects:  {{
	Geometry: 1000, "Geometry::box", "Mesh" {{
		Vertices: *24 {{
			a: {points}
		}}
		PolygonVertexIndex: *24 {{
			a: {faces}
		}}
		GeometryVersion: 124
	}}
	Model: 2000, "Model::box", "Mesh" {{
		Version: 232
	}}
}}
Connections:  {{
	C: "OO",2000,0
	C: "OO",1000,2000
}}
""")


def fbx_node(name, properties=(), children=(), at=0):
    """The bytes of a node of a binary file that lies at an offset: they tell where it ends."""
    values = b""
    for value in properties:
        if isinstance(value, str):
            values += b"S" + struct.pack("<I", len(value)) + value.encode("latin-1")
        elif isinstance(value, tuple):
            kind, numbers = value
            data = struct.pack(f"<{len(numbers)}{kind}", *numbers)
            values += kind.encode() + struct.pack("<III", len(numbers), 0, len(data)) + data
        elif name.endswith("Version"):
            values += b"I" + struct.pack("<i", value)
        else:
            values += b"L" + struct.pack("<q", value) if isinstance(value, int) else b"D" + struct.pack("<d", value)
    inside, start = b"", at + 13 + len(name) + len(values)
    for child in children:
        inside += fbx_node(*child, at=start + len(inside))
    if children:
        inside += bytes(13)
    head = struct.pack("<IIIB", start + len(inside), len(properties), len(values), len(name))
    return head + name.encode() + values + inside


def binary_fbx():
    points = ("d", [x for p in corners() for x in p])
    faces = ("i", [c if i < 3 else ~c for quad in QUADS for i, c in enumerate(quad)])
    unit = ("P", ("UnitScaleFactor", "double", "Number", "", 100.0))
    nodes = [("FBXHeaderExtension", (), [("FBXVersion", (7300,))]),
             ("GlobalSettings", (), [("Version", (1000,)), ("Properties70", (), [unit])]),
             ("Objects", (), [("Geometry", (1000, "box\0\1Geometry", "Mesh"), [("Vertices", (points,)), ("PolygonVertexIndex", (faces,))]),
                              ("Model", (2000, "box\0\1Model", "Mesh"), [("Version", (232,))])]),
             ("Connections", (), [("C", ("OO", 2000, 0)), ("C", ("OO", 1000, 2000))])]
    data = b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", 7300)
    for node in nodes:
        data += fbx_node(*node, at=len(data))
    (HERE / "binary.fbx").write_bytes(data + bytes(13))


def dae_geometry(name, points, quads):
    # z is up: (x, y, z) of ours lies at (x, -z, y), and lengths are in centimetres.
    values = " ".join("%g %g %g" % (100 * x, -100 * z, 100 * y) for x, y, z in points)
    faces = " ".join(str(i) for t in triangles(quads) for i in t)
    return f"""<geometry id="{name}"><mesh><source id="{name}-p"><float_array id="{name}-a" count="24">{values}</float_array>
<technique_common><accessor source="#{name}-a" count="8" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source><vertices id="{name}-v"><input semantic="POSITION" source="#{name}-p"/>
</vertices><triangles count="{2 * len(quads)}"><input semantic="VERTEX" source="#{name}-v" offset="0"/><p>{faces}</p></triangles>
</mesh></geometry>
"""


def dae(file, parts):
    geometry = "".join(dae_geometry(f"part{i}", *part) for i, part in enumerate(parts))
    nodes = "".join(f'<node><instance_geometry url="#part{i}"/></node>' for i in range(len(parts)))
    (HERE / file).write_text(f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2020-01-01T00:00:00</created><modified>2020-01-01T00:00:00</modified><unit name="centimeter" meter="0.01"/><up_axis>Z_UP</up_axis></asset>
<library_geometries>
{geometry}</library_geometries>
<library_visual_scenes><visual_scene id="scene">{nodes}</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#scene"/></scene>
</COLLADA>
""")


obj()
ply()
stl()
gltf()
fbx()
binary_fbx()
middle = 0.5 * (LO[1] + HI[1])
dae("box.dae", [(corners(LO, (HI[0], middle, HI[2])), QUADS), (corners((LO[0], middle + 0.02, LO[2]), HI), QUADS)])
dae("open.dae", [(corners(), QUADS[:-1])])
