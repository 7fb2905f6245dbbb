"""Materials, light and camera: what makes a picture of the water before anybody has touched a setting."""

import math

import bpy
import mathutils

# Of pure water at 650, 550 and 450 nm, 1/m (Pope & Fry 1997).
ABSORPTION = (0.340, 0.0565, 0.00922)
WATER_IOR = 1.333


def new_material(name, build):
    """The material of that name, as it is where the file has it already."""
    if name in bpy.data.materials:
        return bpy.data.materials[name]
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    nodes = material.node_tree.nodes
    nodes.clear()
    output = nodes.new("ShaderNodeOutputMaterial")
    build(nodes, material.node_tree.links, output)
    return material


def water():
    def build(nodes, links, output):
        glass = nodes.new("ShaderNodeBsdfGlass")
        glass.inputs["IOR"].default_value = WATER_IOR
        glass.inputs["Roughness"].default_value = 0
        # Cycles finds no caustics in a sensible time. Light goes straight through instead, so that what lies under
        # water is lit.
        clear = nodes.new("ShaderNodeBsdfTransparent")
        path = nodes.new("ShaderNodeLightPath")
        mix = nodes.new("ShaderNodeMixShader")
        links.new(path.outputs["Is Shadow Ray"], mix.inputs[0])
        links.new(glass.outputs[0], mix.inputs[1])
        links.new(clear.outputs[0], mix.inputs[2])
        links.new(mix.outputs[0], output.inputs["Surface"])
        # The node absorbs density (1 - color).
        absorb = nodes.new("ShaderNodeVolumeAbsorption")
        density = max(ABSORPTION)
        absorb.inputs["Density"].default_value = density
        absorb.inputs["Color"].default_value = (*(1 - a / density for a in ABSORPTION), 1)
        links.new(absorb.outputs[0], output.inputs["Volume"])
    return new_material("Tarn water", build)


def matte(name, color):
    def build(nodes, links, output):
        diffuse = nodes.new("ShaderNodeBsdfDiffuse")
        diffuse.inputs["Color"].default_value = (*color, 1)
        links.new(diffuse.outputs[0], output.inputs["Surface"])
    return new_material(name, build)


# As Tarn's own renderer has them where the scene gives no color.
SOLID_COLORS = {"plaster": (0.58, 0.56, 0.53), "plastic": (0.70, 0.12, 0.06), "metal": (0.91, 0.92, 0.92), "mirror": (0.97, 0.96, 0.91),
                "glass": (1, 1, 1)}
SOLID_NODES = {"plastic": "ShaderNodeBsdfPrincipled", "metal": "ShaderNodeBsdfGlossy", "mirror": "ShaderNodeBsdfGlossy",
               "glass": "ShaderNodeBsdfGlass"}


def solid(name, entry):
    """The material of an entry of [[solid]]."""
    kind = entry.get("material", "plaster")
    color = entry.get("color", SOLID_COLORS[kind])
    if kind == "plaster":
        return matte(name, color)

    def build(nodes, links, output):
        shader = nodes.new(SOLID_NODES[kind])
        if kind == "glass":
            shader.inputs["IOR"].default_value = 1.5  # clear, whatever its color
        else:
            shader.inputs["Base Color" if kind == "plastic" else "Color"].default_value = (*color, 1)
        shader.inputs["Roughness"].default_value = 0 if kind in ("mirror", "glass") else float(entry.get("roughness", 0.3))
        links.new(shader.outputs[0], output.inputs["Surface"])
    return new_material(name, build)


def tiles(name, width):
    """A floor of light and dark tiles, by which one sees what water does to light."""
    def build(nodes, links, output):
        place = nodes.new("ShaderNodeTexCoord")
        checker = nodes.new("ShaderNodeTexChecker")
        checker.inputs["Scale"].default_value = 1 / width
        checker.inputs["Color1"].default_value = (0.42, 0.40, 0.37, 1)
        checker.inputs["Color2"].default_value = (0.16, 0.165, 0.17, 1)
        diffuse = nodes.new("ShaderNodeBsdfDiffuse")
        links.new(place.outputs["Object"], checker.inputs["Vector"])
        links.new(checker.outputs["Color"], diffuse.inputs["Color"])
        links.new(diffuse.outputs[0], output.inputs["Surface"])
    return new_material(name, build)


def sky(name):
    world = bpy.data.worlds.new(name)
    world.use_nodes = True
    nodes, links = world.node_tree.nodes, world.node_tree.links
    nodes.clear()
    texture = nodes.new("ShaderNodeTexSky")
    kinds = [item.identifier for item in texture.bl_rna.properties["sky_type"].enum_items]
    texture.sky_type = "NISHITA" if "NISHITA" in kinds else "MULTIPLE_SCATTERING"
    texture.sun_elevation = math.radians(48)
    texture.sun_rotation = math.radians(-60)
    texture.sun_intensity = 0.4
    if hasattr(texture, "dust_density"):  # Blender 5 calls it by another name
        texture.dust_density = 0.4
    background = nodes.new("ShaderNodeBackground")
    background.inputs["Strength"].default_value = 0.1
    output = nodes.new("ShaderNodeOutputWorld")
    links.new(texture.outputs[0], background.inputs["Color"])
    links.new(background.outputs[0], output.inputs["Surface"])
    return world


def new_camera(run, aspect):
    """The scene's camera, in Tarn's coordinates, with its matrix."""
    fov = float(run.camera.get("fov", 40))
    position, target = frame_domain(run.size, fov, aspect, run.camera.get("position"), run.camera.get("target"))
    data = bpy.data.cameras.new("Tarn camera")
    data.sensor_fit = "VERTICAL"
    data.angle = math.radians(fov)
    far = (position - mathutils.Vector(run.size) / 2).length + 100 * max(run.size)
    data.clip_start, data.clip_end = 1e-3 * max(run.size), far
    camera = bpy.data.objects.new("Tarn camera", data)
    forward, right, up = axes(target - position)
    camera.matrix_basis = mathutils.Matrix((right, up, -forward)).transposed().to_4x4()
    camera.location = position
    return camera


def axes(along):
    forward = along.normalized()
    side = forward.cross(mathutils.Vector((0, 1, 0)))
    right = side.normalized() if side.length > 1e-6 else mathutils.Vector((1, 0, 0))
    return forward, right, right.cross(forward)


def frame_domain(size, fov, aspect, position, target):
    """Where the camera stands and looks to. What is not given is chosen as Tarn chooses it (render/camera.cpp): a three-quarter
    view in which the whole domain is seen."""
    given = target is not None
    target = mathutils.Vector(target if given else [0.5 * s for s in size])
    if position is not None:
        return mathutils.Vector(position), target
    tan_y = math.tan(0.5 * math.radians(fov))
    tan_x = tan_y * aspect
    back = mathutils.Vector((0.52, 0.36, 1.0)).normalized()
    _, right, up = axes(-back)
    corners = [mathutils.Vector([s * bit for s, bit in zip(size, bits)])
               for bits in ((i & 1, i >> 1 & 1, i >> 2 & 1) for i in range(8))]
    distance = 0
    for _ in range(8):
        seen = [((c - target).dot(right), (c - target).dot(up), (c - target).dot(back)) for c in corners]
        distance = max(z + 1.08 * max(abs(x) / tan_x, abs(y) / tan_y) for x, y, z in seen)
        heights = [y / (distance - z) for _, y, z in seen]
        if given:
            break
        target = target + 0.5 * (max(heights) + min(heights)) * distance * up
    return target + distance * back, target


def settings(scene):
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 128
    # Light that goes straight through the water (see water()) must not come a second time as noise.
    scene.cycles.caustics_refractive = scene.cycles.caustics_reflective = False
    # Meshes change while an animation is rendered, which the windows must not look at meanwhile.
    scene.render.use_lock_interface = True
    scene.render.use_motion_blur = True
    scene.render.motion_blur_shutter = 0.5
    try:
        import _cycles
        scene.cycles.use_denoising = _cycles.with_openimagedenoise
    except (ImportError, AttributeError):
        scene.cycles.use_denoising = False
