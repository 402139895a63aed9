"""What is drawn: a robot dressed with light, floor and colours."""

import importlib.util
from dataclasses import dataclass

import numpy as np

from .._core import Error, GeomType, Model
from .._util.text import visible
from ..arrays import host

SKY, HORIZON = (0.44, 0.58, 0.74), (0.87, 0.90, 0.93)
FLOOR = (0.62, 0.66, 0.71), (0.68, 0.72, 0.77)  # of a chequer
TRUNK, LINK, OTHER_LINK, END = (
    (0.88, 0.89, 0.91, 1), (0.20, 0.23, 0.28, 1), (0.50, 0.56, 0.63, 1), (0.95, 0.45, 0.12, 1)
)  # fmt: skip
GREY = (0.5, 0.5, 0.5, 1)  # MuJoCo's colour of a geom that has none
LIGHT = (0.35, 0.55, -1)  # direction of the one that casts shadows


def scenery(model: Model):
    """MuJoCo's model of a Model, from what that was loaded from: with sky, floor, lights and colours. What stands for a file
    that is missing is tiny. Error where MuJoCo cannot read it.
    """
    import mujoco

    try:
        text, assets = model._drawing()
        m = _dressed(mujoco.MjSpec.from_string(text, assets=assets), model)
    except ValueError as e:
        raise Error(f"MuJoCo, which draws, can't read the model: {visible(e)}") from None
    _raise_fields(m, model)
    return m


def _dressed(spec, model):
    import mujoco

    _add_bones(spec, mujoco)
    _paint(spec, mujoco)
    fields = _cover_fields(spec, mujoco, model)
    size = _size(spec.copy().compile())
    _lay_floor(spec, mujoco, size)
    _light(spec, mujoco)
    m = spec.compile()
    for texture, pixels in fields.items():
        first = m.tex_adr[m.texture(texture).id]
        m.tex_data[first : first + pixels.size] = pixels.ravel()
    # shadows, the nearest and the farthest that is drawn are made for what moves, not for the floor
    m.stat.extent = size
    m.vis.map.znear, m.vis.map.zfar = 0.02, 60.0
    m.vis.map.shadowclip = 3.0
    m.vis.map.fogstart, m.vis.map.fogend = 8.0, 40.0
    m.vis.map.haze = 0.4
    m.vis.quality.shadowsize, m.vis.quality.offsamples = 4096, 4
    for name, (r, g, b) in (("haze", HORIZON), ("fog", HORIZON)):
        getattr(m.vis.rgba, name)[:] = (r, g, b, 1)
    return m


def _size(m) -> float:
    """Diameter of what moves, in the reference pose, m; at least 0.5."""
    import mujoco

    data = mujoco.MjData(m)
    mujoco.mj_kinematics(m, data)
    moving = m.body_weldid[m.geom_bodyid] != 0
    moving |= m.body_mocapid[m.body_rootid[m.geom_bodyid]] >= 0
    moving &= m.geom_type != mujoco.mjtGeom.mjGEOM_PLANE
    if not moving.any():
        return 2.0
    points, reach = data.geom_xpos[moving], m.geom_rbound[moving]
    distance = np.linalg.norm(points - points.mean(axis=0), axis=1)
    return max(0.5, 2 * float(np.max(distance + reach)))


# ------------------------------------------------------------------------------- colours


def _moving(body, depth):
    """(body, moving bodies from the world to it) of what moves below a body."""
    for child in body.bodies:
        below = depth + 1 if child.joints or child.mocap else depth
        if below:
            yield child, below
        yield from _moving(child, below)


def _colour(depth: int, children: int):
    """The colour of a body that is `depth` moving bodies away from the world: limbs branch off from a trunk and come to an end."""
    if depth == 1 or children > 1:
        return TRUNK
    return END if children == 0 else LINK if depth % 2 == 0 else OTHER_LINK


def _paint(spec, mujoco):
    """Colours for a robot whose file has none: trunk, links in turn, ends of limbs."""
    moving = list(_moving(spec.worldbody, 0))
    if any(g.material or not np.allclose(g.rgba, GREY) for body, _ in moving for g in body.geoms):
        return
    spec.add_material(name="stiction_robot", rgba=(1, 1, 1, 1), specular=0.4, shininess=0.5)
    for body, depth in moving:
        for geom in body.geoms:
            geom.material, geom.rgba = "stiction_robot", _colour(depth, len(body.bodies))
            # of two that overlap in a joint one is seen, not a pattern of both
            geom.size = geom.size * (1 + 0.01 * depth)


def _add_bones(spec, mujoco):
    """Bones for links with nothing to be seen: from their origin to their children's, and on to what is seen."""
    bare = [b for b in spec.bodies[1:] if not b.geoms and not b.mocap and b.bodies]
    ends = [(body, child.pos) for body in bare for child in body.bodies]
    ends += [
        (child, np.mean([g.pos for g in child.geoms], axis=0))
        for body in bare for child in body.bodies if child.geoms
    ]  # fmt: skip
    for body, end in ends:
        length = float(np.linalg.norm(end))
        if length > 0.02:
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[0, 0, 0, *end], contype=0, conaffinity=0,
                size=[min(0.04, 0.25 * length), 0, 0], mass=0,
            )  # fmt: skip


# ------------------------------------------------------------------------------- floor, light


def _lay_floor(spec, mujoco, size):
    """A chequer for planes without a material, and a floor to be seen below what has none and can't fall."""
    T = mujoco.mjtTexture
    if T.mjTEXTURE_SKYBOX not in {t.type for t in spec.textures}:
        spec.add_texture(
            name="stiction_sky", type=T.mjTEXTURE_SKYBOX, width=64, height=384,
            builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, rgb1=SKY, rgb2=HORIZON,
        )  # fmt: skip
    spec.add_texture(
        name="stiction_floor", type=T.mjTEXTURE_2D, width=512, height=512,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER, rgb1=FLOOR[0], rgb2=FLOOR[1],
        mark=mujoco.mjtMark.mjMARK_EDGE, markrgb=(0.76, 0.80, 0.84),
    )  # fmt: skip
    square = 2.0 ** round(np.log2(0.5 * size))  # m; the texture is two of them wide
    floor = spec.add_material(
        name="stiction_floor", texrepeat=(0.5 / square, 0.5 / square), texuniform=True, specular=0.1, shininess=0.1
    )
    floor.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "stiction_floor"
    planes = [g for g in spec.geoms if g.type == mujoco.mjtGeom.mjGEOM_PLANE]
    for geom in planes:
        geom.size = (0, 0, geom.size[2] or 1)  # drawn without end
        if not geom.material:
            geom.material, geom.rgba = "stiction_floor", (1, 1, 1, 1)
    free = any(j.type == mujoco.mjtJoint.mjJNT_FREE for j in spec.joints)
    if planes or free or any(b.mocap for b in spec.bodies):
        return
    lowest = _lowest(spec.copy().compile())
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, pos=(0, 0, lowest if lowest < -0.1 * size else 0), size=(0, 0, 1),
        material="stiction_floor", contype=0, conaffinity=0,
    )  # fmt: skip


def _lowest(m) -> float:
    import mujoco

    data = mujoco.MjData(m)
    mujoco.mj_kinematics(m, data)
    up = data.geom_xmat.reshape(-1, 3, 3)[:, 2]
    centre = data.geom_xpos[:, 2] + np.sum(up * m.geom_aabb[:, :3], axis=1)
    return float(np.min(centre - np.sum(np.abs(up) * m.geom_aabb[:, 3:], axis=1), initial=0))


def _light(spec, mujoco):
    """One light that casts the shadow, which `look` moves along, one from the other side, a little from everywhere."""
    spec.visual.headlight.ambient[:] = (0.38, 0.38, 0.40)
    spec.visual.headlight.diffuse[:] = (0.12, 0.12, 0.12)
    spec.visual.headlight.specular[:] = (0.05, 0.05, 0.05)
    for light in spec.lights:
        light.castshadow, light.diffuse = False, 0.2 * np.array(light.diffuse)
    towards, sun = np.array(LIGHT), mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    for name, direction, brightness, shadow in (
        ("key", towards, 0.5, True),
        ("fill", towards * (-1, -1, 0.6), 0.12, False),
    ):
        spec.worldbody.add_light(
            name=f"stiction_{name}", dir=direction, type=sun, castshadow=shadow,
            diffuse=[brightness] * 3, specular=[0.3 if shadow else 0.0] * 3, ambient=(0, 0, 0),
        )  # fmt: skip


# ------------------------------------------------------------------------------- height fields

LOW, HIGH = (0.36, 0.40, 0.45), (0.86, 0.87, 0.86)  # colours of the lowest and the highest ground
LINE = 0.82  # brightness of the lines of the grid
TEXELS = 1024  # along a side of a texture, at most


def _shade(elevation, size) -> np.ndarray:
    """(height, width, 3) uint8 of a field: the higher the brighter, with lines every metre, or whatever power of two makes
    about 16 squares.

    elevation: (nrow, ncol), rows along y. size: half sizes in x and y, m.
    """
    ncol, nrow = (min(TEXELS, 8 * n) for n in reversed(elevation.shape))
    at = lambda n, count: np.minimum((np.arange(n) * count / n).astype(int), count - 1)
    h = elevation[at(nrow, elevation.shape[0])[:, None], at(ncol, elevation.shape[1])]
    low, high = float(h.min()), float(h.max())
    share = (h - low) / (high - low) if high > low else np.zeros(h.shape)
    colour = np.array(LOW) + share[..., None] * (np.array(HIGH) - np.array(LOW))
    square = max(2.0 ** round(np.log2(max(size[0], size[1]) / 8)), 1e-6)  # m
    for axis, n in ((1, ncol), (0, nrow)):
        place = (np.arange(n) + 0.5) / n * 2 * size[1 - axis] / square
        line = np.mod(place, 1) < max(2 * size[1 - axis] / square / n, 0.03)
        np.moveaxis(colour, axis, 0)[line] *= LINE
    return np.uint8(np.round(255 * colour[::-1]))  # the first row of a texture is where y is largest


def _cover_fields(spec, mujoco, model) -> dict:
    """A texture for each height field whose geoms have no material; pixels by its name."""
    pixels, known = {}, {h.name: k for k, h in enumerate(model.hfields)}
    for geom in spec.geoms:
        k = known.get(geom.hfieldname)
        if geom.type != mujoco.mjtGeom.mjGEOM_HFIELD or geom.material or k is None or not model.hfield_nrow[k]:
            continue
        name = f"stiction_field{k}"
        if name not in pixels:
            pixels[name] = _shade(elevation_of(model, k), model.hfield_size[k])
            height, width = pixels[name].shape[:2]
            spec.add_texture(name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, width=width, height=height,
                             builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT)  # fmt: skip
            spec.add_material(name=name, specular=0.1, shininess=0.1).textures[
                mujoco.mjtTextureRole.mjTEXROLE_RGB
            ] = name
        geom.material, geom.rgba = name, (1, 1, 1, 1)
    return pixels


def elevation_of(model, k) -> np.ndarray:
    """(nrow, ncol) of height field k, in units of its hfield_size[2]."""
    first, shape = model.hfield_adr[k], (model.hfield_nrow[k], model.hfield_ncol[k])
    return model.hfield_data[first : first + shape[0] * shape[1]].reshape(shape)


def _raise_fields(m, model):
    """Elevations as a model has them now, where they have the resolution of its file."""
    for k in range(min(m.nhfield, model.nhfield)):
        ours = elevation_of(model, k) if model.hfield_nrow[k] else np.zeros((0, 0))
        if ours.shape == (m.hfield_nrow[k], m.hfield_ncol[k]):
            first = m.hfield_adr[k]
            m.hfield_data[first : first + ours.size] = ours.ravel()


# ------------------------------------------------------------------------------- shapes

_SHAPES = {
    GeomType.plane: "plane", GeomType.sphere: "sphere", GeomType.capsule: "capsule",
    GeomType.ellipsoid: "ellipsoid", GeomType.cylinder: "cylinder", GeomType.box: "box",
}  # fmt: skip

@dataclass(frozen=True)
class Shape:
    """A geom as others than MuJoCo draw it: in the frame of its body, sizes in m."""

    body: int
    kind: str  # plane, sphere, capsule, ellipsoid, cylinder, box, mesh
    size: np.ndarray
    pos: np.ndarray
    quat: np.ndarray
    rgba: np.ndarray
    corners: tuple | None = None  # vertices (n, 3) and faces (m, 3) of a mesh

    def mesh(self):
        """(vertices, faces), by trimesh."""
        if self.corners is not None:
            return self.corners
        import trimesh.creation as make

        size = self.size
        if self.kind == "capsule":
            mesh = make.capsule(radius=size[0], height=2 * size[1])
            mesh.apply_translation(-mesh.bounds.mean(axis=0))
        elif self.kind == "cylinder":
            mesh = make.cylinder(radius=size[0], height=2 * size[1])
        elif self.kind == "box":
            mesh = make.box(extents=2 * size)
        else:
            mesh = make.icosphere(subdivisions=3)
            mesh.apply_scale(size if self.kind == "ellipsoid" else size[0])
        return mesh.vertices, mesh.faces


def shapes(model) -> list[Shape]:
    """What there is to be seen of a Model: as MuJoCo reads it, else what it collides with."""
    if importlib.util.find_spec("mujoco") is None:
        return shapes_of_arrays(model)
    m = scenery(model)
    return [shape for g in range(m.ngeom) if (shape := _shape_of(m, g)) is not None]


def _shape_of(m, g) -> Shape | None:
    import mujoco

    kind = mujoco.mjtGeom(int(m.geom_type[g])).name.removeprefix("mjGEOM_").lower()
    corners = None
    if kind == "mesh":
        k = m.geom_dataid[g]
        first, face = m.mesh_vertadr[k], m.mesh_faceadr[k]
        corners = (m.mesh_vert[first : first + m.mesh_vertnum[k]].copy(),
                   m.mesh_face[face : face + m.mesh_facenum[k]].copy())  # fmt: skip
    elif kind == "hfield":
        k = m.geom_dataid[g]
        first, shape = m.hfield_adr[k], (m.hfield_nrow[k], m.hfield_ncol[k])
        kind = "mesh"
        corners = field_mesh(m.hfield_data[first : first + shape[0] * shape[1]].reshape(shape), m.hfield_size[k])
    elif kind not in _SHAPES.values():
        return None
    # rgba is drawn as MuJoCo does: that of the geom where it has one, else the material's
    own = m.geom_matid[g] < 0 or not np.allclose(m.geom_rgba[g], GREY)
    rgba = m.geom_rgba[g] if own else m.mat_rgba[m.geom_matid[g]]
    return Shape(int(m.geom_bodyid[g]), kind, m.geom_size[g].copy(), m.geom_pos[g].copy(),
                 m.geom_quat[g].copy(), rgba.copy(), corners)  # fmt: skip


def shapes_of_arrays(model) -> list[Shape]:
    """What a Model collides with: needs no MuJoCo."""
    found, colours = [], _colours(model)
    for g in range(model.ngeom):
        kind, body = GeomType(int(model.geom_type[g])), int(model.geom_bodyid[g])
        pose, colour = (model.geom_pos[g], model.geom_quat[g]), np.array(colours[body] or GREY)
        if kind in _SHAPES:
            found.append(Shape(body, _SHAPES[kind], model.geom_size[g], *pose, colour))
        elif corners := _corners(model, kind, model.geom_dataid[g]):
            found.append(Shape(body, "mesh", model.geom_size[g], *pose, colour, corners))
    return found


def _corners(model, kind, k):
    """Vertices and triangles of the hull of mesh k, or of height field k; None where its file is missing."""
    if kind == GeomType.mesh and k >= 0 and model.mesh_vertnum[k]:
        first, face = model.mesh_vertadr[k], model.mesh_faceadr[k]
        return (model.mesh_vert[first : first + model.mesh_vertnum[k]].copy(),
                model.mesh_face[face : face + model.mesh_facenum[k]].copy())  # fmt: skip
    if kind == GeomType.hfield and k >= 0 and model.hfield_nrow[k]:
        return field_mesh(elevation_of(model, k), model.hfield_size[k])
    return None


def field_mesh(elevation, size):
    """Vertices and triangles of the upper side of a height field; size: hfield_size."""
    nrow, ncol = elevation.shape
    y, x = np.meshgrid(np.linspace(-size[1], size[1], nrow), np.linspace(-size[0], size[0], ncol), indexing="ij")
    vertices = np.stack([x, y, size[2] * elevation], axis=2).reshape(-1, 3)
    node = np.arange(nrow * ncol).reshape(nrow, ncol)
    a, b, c, d = (node[:-1, :-1], node[:-1, 1:], node[1:, :-1], node[1:, 1:])
    faces = np.stack([a, b, d, a, d, c], axis=2).reshape(-1, 3)
    return vertices, faces


def _colours(model) -> list:
    """The colour of each body of a Model; None for a body that does not move."""
    depth = [0] * model.nbody
    for b in range(1, model.nbody):
        depth[b] = depth[model.body_parentid[b]] + int(model.body_weldid[b] == b)
    return [
        _colour(depth[b], int(np.sum(model.body_parentid == b))) if depth[b] else None
        for b in range(model.nbody)
    ]  # fmt: skip


# ------------------------------------------------------------------------------- poses


def first_moving(m) -> int:
    """The body that camera and light go along with: the first with joints, else the first that mocap moves; 0: neither."""
    for moving in (np.flatnonzero(m.body_dofnum), np.flatnonzero(m.body_mocapid >= 0)):
        if moving.size:
            return int(moving[0])
    return 0


def look(m, data):
    """What drawing takes of a step: poses, centres of mass for cameras that follow, cameras, lights."""
    import mujoco

    mujoco.mj_kinematics(m, data)
    mujoco.mj_comPos(m, data)
    key = m.light("stiction_key").id  # its shadow ends some way from where it is
    m.light_pos[key] = m.light_poscom0[key] = data.subtree_com[first_moving(m)] - 4 * m.light_dir[key]
    mujoco.mj_camlight(m, data)


# ------------------------------------------------------------------------------- on top


LINE_HEIGHT, LETTER = 0.035, 0.019  # of a written name, in heights of the picture


def draw_names(scene, names, places):
    """Writes the names of bodies beside them; where two would lie on each other, the lower one moves down a line."""
    import mujoco

    camera = scene.camera[0]
    eye, forward, up = (np.array(x, float) for x in (camera.pos, camera.forward, camera.up))
    right = np.cross(forward, up)
    view = (camera.frustum_top - camera.frustum_bottom) / camera.frustum_near  # height of the picture per distance
    lines = []  # place, name, distance, row and column of its beginning in heights of the picture
    for name, place in zip(names[1:], places[1:]):
        distance = float((place - eye) @ forward)
        if name and distance > camera.frustum_near:
            row, column = -((place - eye) @ up) / (distance * view), (place - eye) @ right / (distance * view)
            lines.append((place, visible(name)[:99], distance, row, column))
    written = []  # row, first and last column
    for place, name, distance, row, column in sorted(lines, key=lambda line: line[3])[: scene.maxgeom - scene.ngeom]:
        end, lowered = column + LETTER * len(name), row
        for other, first, last in written:  # from the top down
            if abs(other - lowered) < LINE_HEIGHT and first < end and column < last:
                lowered = other + LINE_HEIGHT
        written.append((lowered, column, end))
        written.sort()
        geom = scene.geoms[scene.ngeom]
        at = place - up * (lowered - row) * distance * view
        mujoco.mjv_initGeom(geom, mujoco.mjtGeom.mjGEOM_LABEL, np.zeros(3), at, np.eye(3).ravel(), np.ones(4, np.float32))
        geom.label = name
        scene.ngeom += 1


def draw_arrows(scene, arrows, width=0.02):
    """Adds arrows to a scene of MuJoCo, as many as it has room for: (n, 2, 3) starts and ends, in red, or [(start, end, colour)]."""
    import mujoco

    for start, end, *own in arrows[: scene.maxgeom - scene.ngeom]:
        geom = scene.geoms[scene.ngeom]
        nothing, colour = np.zeros(3), np.array([*(own[0] if own else (0.85, 0.16, 0.16)), 1])
        mujoco.mjv_initGeom(geom, mujoco.mjtGeom.mjGEOM_ARROW, nothing, nothing, np.zeros(9), colour)
        mujoco.mjv_connector(geom, mujoco.mjtGeom.mjGEOM_ARROW, width, start, end)
        scene.ngeom += 1


def mocap_pose(batch, rows):
    """Where mocap bodies of environments are: (n, nmocap, 3), (n, nmocap, 4); where the user has written them, unless
    they move by mocap_vel and have moved since the last reset."""
    pos, quat = host(batch.mocap_pos[rows]), host(batch.mocap_quat[rows])
    if batch.options.mocap_velocity != "given":
        return pos, quat
    at, turned = host(batch.mocap_xpos[rows]), host(batch.mocap_xquat[rows])
    placed = np.any(turned != 0, axis=-1, keepdims=True)
    return np.where(placed, at, pos), np.where(placed, turned, quat)
