"""stiction: simulation of robots with convex contact, for robot learning.

    model = stiction.Model.from_file("robot.xml")
    reference = stiction.Reference(model)
    result = reference.step(model.qpos0, np.zeros(model.nv))

`Model` is the checked robot, `Options` says how to step, `Reference` steps one environment in
double precision. Importing needs NumPy only.
"""

from . import _core
from ._core import (
    ArgumentError,
    Contact,
    EqualitySpec,
    Error,
    ForwardResult,
    GeomType,
    HfieldSpec,
    JointType,
    LoadReport,
    MeshSpec,
    MissingCollider,
    Model,
    ModelError,
    ObjectType,
    Options,
    Reference,
    ReportEntry,
    Rollout,
    SensorSpec,
    SensorType,
    Status,
    StepResult,
    Transmission,
    __version__,
)

__all__ = [
    "ArgumentError",
    "Contact",
    "EqualitySpec",
    "Error",
    "ForwardResult",
    "GeomType",
    "HfieldSpec",
    "JointType",
    "LoadReport",
    "MeshSpec",
    "MissingCollider",
    "Model",
    "ModelError",
    "ObjectType",
    "Options",
    "Reference",
    "ReportEntry",
    "Rollout",
    "SensorSpec",
    "SensorType",
    "Status",
    "StepResult",
    "Transmission",
    "__version__",
]

# Messages, pickles and help name the public package.
for _name in __all__:
    if isinstance(getattr(_core, _name), type):
        getattr(_core, _name).__module__ = __name__
del _name
