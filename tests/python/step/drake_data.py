"""Stored steps of Drake (tests/data/drake) and the engine's answer to each of them."""

import dataclasses
import functools
import json
import lzma
import pathlib

import numpy as np

import stiction

FOLDER = pathlib.Path(__file__).parents[2] / "data" / "drake"


@dataclasses.dataclass(frozen=True)
class Scene:
    model: str  # stem of the MJCF file
    data: dict

    @property
    def name(self):
        return self.data["name"]

    @property
    def contact_model(self):
        return self.data["contact_model"]

    @property
    def dt(self):
        return self.data["dt"]

    @property
    def steps(self):
        return self.data["steps"]


@functools.cache
def scenes():
    """All stored scenes by name."""
    found = {}
    for path in sorted(FOLDER.glob("*.json.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            for data in json.load(file):
                found[data["name"]] = Scene(path.name.removesuffix(".json.xz"), data)
    return found


def compliances(scene):
    """<custom> with stiffness and relaxation time of the scene's constraints; Drake's are rigid unless given."""
    lines = []
    for c in scene.data.get("constraints", []):
        k, damping = c.get("stiffness", 1e40), c.get("damping", 0)
        lines.append(f'<numeric name="stiction_equality/{c["name"]}" data="{k} {damping / k}"/>')
    return f"<custom>{''.join(lines)}</custom>" if lines else ""


def with_distances(scene, xml):
    """The polynomials of tendons that keep a distance: what it is beyond the length in the reference pose."""
    for c in scene.data.get("constraints", []):
        if c["type"] != "distance":
            continue
        model = stiction.Model.from_xml(xml)
        more = c["distance"] - float(model.tendon_length0[model.tendon_names.index(c["name"])])
        tendon = f'tendon1="{c["name"]}"'
        assert xml.count(tendon) == 1
        xml = xml.replace(tendon, f'{tendon} polycoef="{more!r}"')
    return xml


def reference(scene, **options):
    """The engine set up as the scene was: materials of its geoms, its constraints, Drake's pair rules."""
    xml = with_distances(scene, (FOLDER / f"{scene.model}.xml").read_text())
    model = stiction.Model.from_xml(xml.replace("</mujoco>", compliances(scene) + "</mujoco>"))
    for geom, material in scene.data["materials"].items():
        model = model.with_contact_material(geom, **material)
    return stiction.Reference(
        model,
        stiction.Options(
            timestep=scene.dt,
            contact_model=scene.contact_model,
            stiction_tolerance=scene.data["stiction_tolerance"],
            regularization=scene.data["sigma"],
            near_rigid=scene.data["near_rigid_beta"],
            contact_pairs="penetrating_deepest",
            friction_combination="harmonic",
            **options,
        ),
    )


def take_steps(engine, scene):
    return [engine.step(s["q"], s["v"], s.get("ctrl")) for s in scene.steps]


@functools.cache
def exact(scene_name):
    """(engine, results) with every step solved until only round-off is left."""
    scene = scenes()[scene_name]
    engine = reference(scene, solver_tolerance=0, max_iterations=100)
    return engine, take_steps(engine, scene)


def norm(A, x):
    """sqrt(x^T A x)"""
    return float(np.sqrt(max(0.0, x @ A @ x)))


def contact_velocity(engine, step, velocity, contact):
    """Velocity of geom2's body against geom1's at the contact point, world axes."""
    bodies = engine.forward(step["q"], velocity)

    def at_point(geom):
        body = engine.model.geom_bodyid[geom]
        omega, origin = bodies.xvel[body, :3], bodies.xvel[body, 3:]
        return origin + np.cross(omega, contact.pos - bodies.xpos[body])

    return at_point(contact.geom2) - at_point(contact.geom1)


def matched_contacts(engine, step, result):
    """(stored, ours, sign) of every contact; sign -1 where Drake's geom a is our geom2."""
    names = engine.model.geom_names
    ours = {frozenset((names[c.geom1], names[c.geom2])): c for c in result.contacts}
    stored = {frozenset((c["geom_a"], c["geom_b"])): c for c in step["contacts"]}
    assert len(stored) == len(step["contacts"]) and len(ours) == len(result.contacts)
    assert stored.keys() == ours.keys()
    return [(s, ours[key], 1 if names[ours[key].geom1] == s["geom_a"] else -1)
            for key, s in stored.items()]
