"""A free body whose geom may be one of three meshes, over a plane, a ramp, a height field and another body."""

import numpy as np

HALF = np.array([0.06, 0.05, 0.04])
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


def vertices(kind):
    rng = np.random.default_rng(3)
    if kind == "brick":
        return CORNERS * HALF
    if kind == "wedge":
        return np.array([[0, 0, 0], [0.2, 0, 0], [0.2, 0.1, 0], [0, 0.1, 0], [0, 0, 0.05], [0.2, 0, 0.15]])
    p = rng.normal(size=(60, 3))
    return p / np.linalg.norm(p, axis=1, keepdims=True) * [0.05, 0.1, 0.08] + [0.05, 0, 0.1]


KINDS = ("brick", "wedge", "stone")
ASSETS = "".join(
    f'<mesh name="{k}" vertex="{" ".join(map(repr, vertices(k).ravel().tolist()))}"/>' for k in (*KINDS, "spare")
)
CHOICE = '<tuple name="stiction_meshes/thing">{}</tuple>'
ELEMENTS = "".join(f'<element objtype="mesh" objname="{k}"/>' for k in ("wedge", "brick", "stone", "wedge"))


def scene(mesh="brick", custom=CHOICE.format(ELEMENTS)):
    return f"""<mujoco>
      <asset>{ASSETS}<hfield name="ground" nrow="3" ncol="3" size="2 2 .1 .1" elevation="0 1 0 1 0 1 0 1 0"/></asset>
      <custom>{custom}</custom>
      <worldbody>
        <geom type="plane" size="2 2 .1"/> <geom name="ramp" type="box" size=".2 .2 .05" pos=".3 0 0" euler="0 20 0"/>
        <geom type="hfield" hfield="ground" pos="3 0 0"/>
        <body name="thing" pos="0 0 .4"><freejoint/><inertial pos=".01 0 0" mass=".4" diaginertia=".002 .003 .0025"/>
          <geom name="thing" type="mesh" mesh="{mesh}" pos=".01 .02 .03" euler="10 20 30"/></body>
        <body name="other" pos="0 0 .9"><freejoint/><geom name="other" type="mesh" mesh="stone"/>
          <geom type="cylinder" size=".03 .08" pos=".1 0 0"/></body>
      </worldbody>
      <sensor><distance geom1="thing" geom2="other" cutoff="5"/><fromto geom1="thing" geom2="ramp" cutoff="5"/>
        <framepos objtype="geom" objname="thing"/><framequat objtype="geom" objname="thing" reftype="geom" refname="other"/></sensor>
    </mujoco>"""


def scatter(batch, seed=5):
    rng = np.random.default_rng(seed)
    batch.reset()
    q = batch.qpos
    for first in (0, 7):
        q[:, first : first + 2] = rng.uniform(-0.4, 0.4, (batch.num_envs, 2))
        turn = rng.normal(size=(batch.num_envs, 4))
        q[:, first + 3 : first + 7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    q[::5, 0] += 3  # over the height field
    batch.refresh()
