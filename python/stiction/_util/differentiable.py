"""Options of steps that are differentiated, exactly or by differences."""

from .._core import Options


def differentiable(options: Options | None) -> Options:
    """These options, or Options(): "auto" counts as "fixed_point", since a derivative needs a step that is a function."""
    options = options or Options()
    return options.replace(friction_iterations="fixed_point") if options.friction_iterations == "auto" else options
