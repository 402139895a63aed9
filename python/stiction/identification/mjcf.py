"""Fitted values as MJCF: attributes of elements, in a snippet to read or in the model itself.

What is written is read back and compared with what the batch had: a value that MJCF says otherwise is refused.
"""

import warnings
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import quoteattr

import numpy as np

from .._core import Batch, Error, Model, ModelWarning
from .._util.text import visible

_JOINT = {
    "dof_damping": "damping",
    "dof_armature": "armature",
    "dof_frictionloss": "frictionloss",
    "jnt_stiffness": "stiffness",
}
_TENDON = {
    "tendon_damping": "damping",
    "tendon_armature": "armature",
    "tendon_frictionloss": "frictionloss",
    "tendon_stiffness": "stiffness",
}
_INERTIAL = ("body_mass", "body_inertia", "body_ipos")
_GAINS = ("actuator_gain", "actuator_bias")
_OWN_WAYS = (
    "kp",
    "kv",
    "dampratio",
    "inheritrange",
    "timeconst",
)  # of shortcuts to say what `general` says by gainprm, biasprm


def values_in(batch, bounds, numbers) -> dict[str, np.ndarray]:
    """Fields of an environment with these values of the bounds, by name."""
    for name in {name for b in bounds for name in b.fields()}:
        batch.param(name)  # makes it own, from the model's
    for bound, x in zip(bounds, numbers):
        bound.write(batch, np.array([0]), np.array([x], float))
    batch.check_params()
    return {name: np.array(batch.param(name)[0]) for b in bounds for name in b.fields()}


class _Elements:
    """Elements of a file in the order of the model: each body before those in it, with its own joints and geoms."""

    def __init__(self, root):
        self.body, self.joint, self.geom = [None], [], []
        for world in root.findall("worldbody"):
            self._enter(world)
        self.actuator = [x for section in root.findall("actuator") for x in section]
        self.tendon = [x for section in root.findall("tendon") for x in section]

    def _enter(self, body):
        inside = []

        def look(parent):
            for x in parent:
                if x.tag == "frame":
                    look(x)
                elif x.tag in ("joint", "freejoint"):
                    self.joint.append(x)
                elif x.tag == "geom":
                    self.geom.append(x)
                elif x.tag == "body":
                    inside.append(x)

        look(body)
        for x in inside:
            self.body.append(x)
            self._enter(x)

    def of(self, kind, row, names):
        """The element of a row: by its name, else by its place where the file has as many as the model."""
        found = getattr(self, kind)
        named = [x for x in found if x is not None and names[row] and x.get("name") == names[row]]
        if len(named) == 1:
            return named[0]
        if len(found) == len(names) and found[row] is not None:
            return found[row]
        raise Error(
            f"{kind} {visible(names[row]) or row} can't be found in the file: give it a name, or copy it from the snippet"
        )


def _text(x) -> str:
    return " ".join(repr(float(v)) for v in np.atleast_1d(x))


def changes(model, values, root, pinned=()):
    """(element, {attribute: text}) of what makes the model have the values; elements of `root`, which stay as they are.
    pinned: actuators whose gains are written although they stay."""
    elements, found, written = _Elements(root), {}, set()

    def set_(element, **attributes):
        found.setdefault(id(element), (element, {}))[1].update(attributes)

    for name, value in values.items():
        now = _model_field(model, name)
        for row in map(int, np.unique(np.nonzero(value != now)[0])):
            if name in _JOINT:
                joint = row if name == "jnt_stiffness" else int(model.dof_jntid[row])
                set_(elements.of("joint", joint, model.jnt_names), **{_JOINT[name]: _text(value[row])})
            elif name in _TENDON:
                set_(elements.of("tendon", row, model.tendon_names), **{_TENDON[name]: _text(value[row])})
            elif name == "geom_friction":
                set_(
                    elements.of("geom", row, model.geom_names),
                    friction=_text([value[row], *model.geom_friction[row, 1:]]),
                )
            elif name in _INERTIAL:
                if ("body", row) not in written:
                    written.add(("body", row))
                    pick = lambda n: np.atleast_1d(values[n][row] if n in values else getattr(model, n)[row])
                    set_(
                        elements.of("body", row, model.body_names),
                        inertial={
                            "pos": _text(pick("body_ipos")),
                            "quat": _text(model.body_iquat[row]),
                            "mass": _text(pick("body_mass")),
                            "diaginertia": _text(pick("body_inertia")),
                        },
                    )
            elif name in _GAINS:
                gain, bias = (values[n][row] if n in values else getattr(model, n)[row] for n in _GAINS)
                element = elements.of("actuator", row, model.actuator_names)
                set_(element, **_gains(model, row, element, gain, bias))
            elif name == "actuator_dynprm":
                element = elements.of("actuator", row, model.actuator_names)
                set_(element, **{"timeconst" if "timeconst" in element.keys() else "dynprm": _text(value[row][:1])})
            else:
                raise Error(
                    f"{name} is not written into a model: batch.param('{name}') has it, row {row} = {_text(value[row])}"
                )
    for row in pinned:
        element = elements.of("actuator", row, model.actuator_names)
        gain, bias = (values[n][row] if n in values else getattr(model, n)[row] for n in _GAINS)
        set_(element, **_gains(model, row, element, gain, bias))
    return list(found.values())


def _model_field(model, name):
    value = getattr(model, name)
    return value[:, 0] if name == "geom_friction" else value


def _gains(model, row, element, gain, bias) -> dict:
    """Attributes of an actuator, with the shortcut's own words where they can say it."""
    plain = not gain[1:].any() and "dampratio" not in element.keys()
    if element.tag == "position" and plain and bias[0] == 0 and bias[1] == -gain[0]:
        return {"kp": _text(gain[0]), "kv": _text(-bias[2])}
    if element.tag == "velocity" and plain and not bias[:2].any() and bias[2] == -gain[0]:
        return {"kv": _text(gain[0])}
    if model.actuator_actadr[row] >= 0 and element.tag != "general":
        raise Error(
            f"actuator {visible(model.actuator_names[row]) or row}: its gain can't be written into "
            f"<{visible(element.tag)}>"
        )
    limits = {"ctrlrange": _text(model.actuator_ctrlrange[row])} if model.actuator_ctrllimited[row] else {}
    return {
        "tag": "general",
        "gaintype": "affine",
        "biastype": "affine",
        "gainprm": _text(gain),
        "biasprm": _text(bias),
        **limits,
    }


def apply(model: Model, values) -> Model:
    """The model with these values; Error where MJCF can't say them."""
    expected = {n: values.get(n, getattr(model, n)) for n in _GAINS} | values
    made = _rewritten(model, values)
    # gains that follow from masses, by dampratio, stay what they were
    moved = [
        a
        for a in range(model.nu)
        if not all(np.allclose(getattr(made, n)[a], expected[n][a], rtol=1e-12) for n in _GAINS)
    ]
    if moved:
        made = _rewritten(model, values, moved)
    for name, value in expected.items():
        now = _model_field(made, name)
        if now.shape != value.shape or not np.allclose(now, value, rtol=1e-9, atol=1e-15):
            raise Error(
                f"{name} can't be written: the file says it otherwise (compiler, replicate, or an actuator's own "
                f"{name.split('_')[-1]})"
            )
    return made


def _rewritten(model, values, pinned=()) -> Model:
    root = ElementTree.fromstring(model.to_xml())
    for element, attributes in changes(model, values, root, pinned):
        if (inertial := attributes.pop("inertial", None)) is not None:
            for old in element.findall("inertial"):
                element.remove(old)
            element.insert(0, ElementTree.Element("inertial", inertial))
        if tag := attributes.pop("tag", None):
            element.tag = tag
            for word in _OWN_WAYS:
                element.attrib.pop(word, None)
        element.attrib.update(attributes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # the model has said it
        return Model.from_xml(ElementTree.tostring(root, encoding="unicode"), assets=model.assets())


def snippet(model: Model, values, notes=()) -> str:
    """The elements with nothing but what is new, and notes as comments."""
    lines = []
    for element, attributes in changes(model, values, ElementTree.fromstring(model.to_xml())):
        attributes = dict(attributes)
        tag, inertial = attributes.pop("tag", element.tag), attributes.pop("inertial", None)
        short = lambda pairs: "".join(f" {k}={quoteattr(_short(v))}" for k, v in pairs.items())
        name = f" name={quoteattr(visible(element.get('name')))}" if element.get("name") else ""
        inside = f"><inertial{short(inertial)}/></{tag}>" if inertial else "/>"
        lines.append(f"<{visible(tag)}{name}{short(attributes)}{inside}")
    return "\n".join([*lines, *(f"<!-- {note} -->" for note in notes)])


def _short(text: str) -> str:
    try:
        return " ".join(f"{float(x):.6g}" for x in text.split())
    except ValueError:
        return text


def fitted_values(fit) -> dict[str, np.ndarray]:
    """Fields of the model with what belongs into it; the rest as it was."""
    chosen = [(b, e.value) for b, e in zip(fit.problem.replay.bounds, fit.estimates) if fit.is_written(e)]
    if not chosen:
        return {}
    batch = Batch(fit.model, 1, precision="float64", threads=1)
    return values_in(batch, [b for b, _ in chosen], [x for _, x in chosen])
