"""Other numbers for terms by their paths: what `--set rewards.slip=-0.2` does."""

import dataclasses

from .._core import ArgumentError
from .._util.nearest import hint

# what a number for a whole term changes
_MAIN = {"rewards": "weight"}


def override(task, changes, kinds):
    """Changes terms of a task: {"rewards.slip": -0.2, "rewards.slip.threshold": 5.0, "events.push": None}.

    A path is KIND.NAME, or KIND.NAME.FIELD, where FIELD is a field of the term or a parameter of its function. None for a
    whole term takes it away. Refused (ArgumentError) are names that there are not, naming the nearest, and values that
    are of another kind.
    """
    for path, value in changes.items():
        kind, _, rest = str(path).partition(".")
        name, _, what = rest.partition(".")
        if kind not in kinds:
            raise ArgumentError(f"set {path}: no list of terms {kind!r}{hint(kind, kinds) or '; there are ' + ', '.join(kinds)}")
        terms = getattr(task, kind) or {}
        if name not in terms:
            raise ArgumentError(f"set {path}: no term {name!r} in {kind}{hint(name, terms) or _there_are(terms)}")
        if not what and value is None:
            del terms[name]
            continue
        what = what or _MAIN.get(kind)
        if what is None:
            raise ArgumentError(f"set {path}: which number of it? {kind}.{name}.FIELD{_there_are(_fields(terms[name]))}")
        terms[name] = _changed(terms[name], what, value, path)


def summary(term) -> str:
    """A term as it would be written, without what it has by default."""
    said = []
    for f in dataclasses.fields(term):
        value = getattr(term, f.name)
        if f.name == "function":
            said.insert(0, getattr(value, "__name__", str(value)))
        elif f.name == "params":
            said += [f"{name}={_short(x)}" for name, x in value.items()]
        elif f.name == "weight" or not _is_default(f, value):
            said.append(f"{f.name}={_short(value)}")
    return f"{type(term).__name__}({', '.join(said)})"


def _is_default(field, value):
    return value is field.default or (type(value) is type(field.default) and repr(value) == repr(field.default))


def _short(value):
    text = getattr(value, "__qualname__", None) or repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _there_are(names):
    return f"; there are {', '.join(names) or 'none'}"


def _fields(term):
    known = [f.name for f in dataclasses.fields(term) if f.name not in ("function", "params")]
    return known + (list(term.parameters()) if hasattr(term, "parameters") else [])


def _changed(term, what, value, path):
    known = _fields(term)
    own = {f.name for f in dataclasses.fields(term)} - {"function", "params"}
    if what in own:
        before = getattr(term, what)
        value = _of_kind(before, value, path)
        return dataclasses.replace(term, **{what: value})
    if what in known:
        before = term.params.get(what, term.parameters()[what].default)
        return dataclasses.replace(term, params={**term.params, what: _of_kind(before, value, path)})
    raise ArgumentError(f"set {path}: no {what!r} of this term{hint(what, known) or _there_are(known)}")


def _of_kind(before, value, path):
    """The value, if it can stand where `before` stands."""
    number = lambda x: isinstance(x, (int, float)) and not isinstance(x, bool)
    if isinstance(value, list):
        value = tuple(value)
    fits = (
        isinstance(value, bool) if isinstance(before, bool)
        else number(value) or isinstance(value, (tuple, dict)) if number(before)
        else isinstance(value, tuple) and len(value) == len(before) if isinstance(before, tuple) and not number(value)
        else not isinstance(before, tuple)
    )  # fmt: skip
    if isinstance(before, int) and not isinstance(before, bool) and isinstance(value, float) and value % 1:
        fits = False
    if value is not None and not fits:
        kind = {bool: "true or false", int: "a whole number", float: "a number"}.get(type(before))
        raise ArgumentError(f"set {path}: {value!r}: must be {kind or f'like {before!r}'}")
    return value
