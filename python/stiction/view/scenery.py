"""What MuJoCo draws: a robot file dressed with light, floor and colours, or a model without its file."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._core import Error, GeomType, Model, Reference
from .._util.text import visible

SKY, HORIZON = (0.44, 0.58, 0.74), (0.87, 0.90, 0.93)
FLOOR = (0.62, 0.66, 0.71), (0.68, 0.72, 0.77)  # of a chequer
TRUNK, LINK, OTHER_LINK, END = (
    (0.88, 0.89, 0.91, 1), (0.20, 0.23, 0.28, 1), (0.50, 0.56, 0.63, 1), (0.95, 0.45, 0.12, 1)
)  # fmt: skip
GREY = (0.5, 0.5, 0.5, 1)  # MuJoCo's colour of a geom that has none
LIGHT = (0.35, 0.55, -1)  # direction of the one that casts shadows


def source_of(env):
    """What `scenery` makes of what has `batch` and `model_xml`: its text with the files that it names, its file or its Model."""
    model, file = env.batch.model, env.batch.model.file
    if env.model_xml:
        return env.model_xml, getattr(env, "model_assets", {})
    return Path(file) if file and Path(file).is_file() else model


def scenery(source):
    """MuJoCo's model of an MJCF text (or a pair of it and its files by name), a Path or a Model: with sky, floor, lights
    and colours.

    A Model is drawn without its file: a mocap body for each of its bodies, to be put where it is. Raises Error
    where MuJoCo cannot read it.
    """
    import mujoco

    try:
        if isinstance(source, Model):
            spec = mujoco.MjSpec.from_string(_without_file(source))
        elif isinstance(source, Path):
            spec = mujoco.MjSpec.from_file(str(source))
        else:
            text, assets = source if isinstance(source, tuple) else (source, {})
            spec = mujoco.MjSpec.from_string(text, assets=assets)
        return _dressed(spec)
    except ValueError as e:
        raise Error(f"MuJoCo, which draws, can't read the model: {visible(e)}") from None


def _dressed(spec):
    import mujoco

    _add_bones(spec, mujoco)
    _paint(spec, mujoco)
    size = _size(spec.copy().compile())
    _lay_floor(spec, mujoco, size)
    _light(spec, mujoco)
    model = spec.compile()
    # shadows, the nearest and the farthest that is drawn are made for what moves, not for the floor
    model.stat.extent = size
    model.vis.map.znear, model.vis.map.zfar = 0.02, 60.0
    model.vis.map.shadowclip = 3.0
    model.vis.map.fogstart, model.vis.map.fogend = 8.0, 40.0
    model.vis.map.haze = 0.4
    model.vis.quality.shadowsize, model.vis.quality.offsamples = 4096, 4
    for name, (r, g, b) in (("haze", HORIZON), ("fog", HORIZON)):
        getattr(model.vis.rgba, name)[:] = (r, g, b, 1)
    return model


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
    """Of a body, `depth` moving bodies from the world: limbs branch off from a trunk and come to an end."""
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


# ------------------------------------------------------------------------------- without a file

_SHAPES = {
    GeomType.plane: "plane", GeomType.sphere: "sphere", GeomType.capsule: "capsule",
    GeomType.ellipsoid: "ellipsoid", GeomType.cylinder: "cylinder", GeomType.box: "box",
}  # fmt: skip


def _numbers(x) -> str:
    return " ".join(f"{v:.9g}" for v in np.ravel(x))


def _geom(model, g, colour) -> str:
    kind = GeomType(int(model.geom_type[g]))
    if kind not in _SHAPES:
        return ""  # a mesh or height field is in its file
    size = np.maximum(model.geom_size[g], 1e-6) if kind != GeomType.plane else (0, 0, 1)
    return (f'<geom type="{_SHAPES[kind]}" size="{_numbers(size)}" pos="{_numbers(model.geom_pos[g])}" '
            f'quat="{_numbers(model.geom_quat[g])}"{colour}/>')  # fmt: skip


def _without_file(model: Model) -> str:
    """MJCF of what a model looks like: body b is the mocap body b - 1, in MuJoCo body b."""
    bodies, colours = [""] * model.nbody, _colours(model)
    for g in range(model.ngeom):
        b = model.geom_bodyid[g]
        bodies[b] += _geom(model, g, f' rgba="{_numbers(colours[b])}"' if colours[b] else "")
    at = Reference(model).forward(model.qpos0, np.zeros(model.nv))
    moving = "".join(
        f'<body mocap="true" pos="{_numbers(at.xpos[b])}" quat="{_numbers(at.xquat[b])}">{bodies[b]}</body>'
        for b in range(1, model.nbody)
    )
    return f"<mujoco><worldbody>{bodies[0]}{moving}</worldbody></mujoco>"


# ------------------------------------------------------------------------------- shapes


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


def shapes(source) -> list[Shape]:
    """What there is to be seen of a text, a Path or a Model; of a Model, which needs no MuJoCo, no meshes."""
    if isinstance(source, Model):
        return _shapes_of_model(source)
    m = scenery(source)
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
    elif kind not in _SHAPES.values():
        return None
    # rgba is drawn as MuJoCo does: that of the geom where it has one, else the material's
    own = m.geom_matid[g] < 0 or not np.allclose(m.geom_rgba[g], GREY)
    rgba = m.geom_rgba[g] if own else m.mat_rgba[m.geom_matid[g]]
    return Shape(int(m.geom_bodyid[g]), kind, m.geom_size[g].copy(), m.geom_pos[g].copy(),
                 m.geom_quat[g].copy(), rgba.copy(), corners)  # fmt: skip


def _shapes_of_model(model) -> list[Shape]:
    found, colours = [], _colours(model)
    for g in range(model.ngeom):
        kind, body = _SHAPES.get(GeomType(int(model.geom_type[g]))), int(model.geom_bodyid[g])
        if kind:
            found.append(Shape(body, kind, model.geom_size[g], model.geom_pos[g], model.geom_quat[g],
                               np.array(colours[body] or GREY)))  # fmt: skip
    return found


def _colours(model) -> list:
    """Of the bodies of a Model; None: it does not move."""
    depth = [0] * model.nbody
    for b in range(1, model.nbody):
        depth[b] = depth[model.body_parentid[b]] + int(model.body_weldid[b] == b)
    return [
        _colour(depth[b], int(np.sum(model.body_parentid == b))) if depth[b] else None
        for b in range(model.nbody)
    ]  # fmt: skip


# ------------------------------------------------------------------------------- poses


def first_moving(m) -> int:
    """The body that camera and light go along with; 0 where nothing moves."""
    moving = np.flatnonzero((m.body_weldid != 0) | (m.body_mocapid >= 0))
    return int(moving[0]) if moving.size else 0


def look(m, data):
    """What drawing takes of a step: poses, centres of mass for cameras that follow, cameras, lights."""
    import mujoco

    mujoco.mj_kinematics(m, data)
    mujoco.mj_comPos(m, data)
    key = m.light("stiction_key").id  # its shadow ends some way from where it is
    m.light_pos[key] = m.light_poscom0[key] = data.subtree_com[first_moving(m)] - 4 * m.light_dir[key]
    mujoco.mj_camlight(m, data)


# ------------------------------------------------------------------------------- on top


def draw_arrows(scene, arrows, width=0.02):
    """Adds (n, 2, 3) arrows to a scene of MuJoCo, as many as it has room for."""
    import mujoco

    for start, end in arrows[: scene.maxgeom - scene.ngeom]:
        geom = scene.geoms[scene.ngeom]
        nothing, colour = np.zeros(3), np.array([0.85, 0.16, 0.16, 1])
        mujoco.mjv_initGeom(geom, mujoco.mjtGeom.mjGEOM_ARROW, nothing, nothing, np.zeros(9), colour)
        mujoco.mjv_connector(geom, mujoco.mjtGeom.mjGEOM_ARROW, width, start, end)
        scene.ngeom += 1
