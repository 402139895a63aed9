"""stiction: simulation of robots with convex contact, for robot learning.

    model = stiction.Model.from_file("robot.xml")
    batch = stiction.Batch(model, num_envs=4096)
    batch.ctrl[:] = 0.1
    batch.step(5)
    batch.qpos, batch.qvel

`Model` is the checked robot, `Options` says how to step, `Batch` steps thousands of copies and
`Reference` one environment in double precision, slow and obvious. Importing needs NumPy only.
"""

from . import _core, assets, rotations, sensors, terms
from ._core import (
    ArgumentError,
    Batch,
    BatchMemory,
    Contact,
    Contacts,
    CudaDevice,
    CudaReport,
    DeviceArray,
    Env,
    EqualityType,
    Error,
    FieldInfo,
    ForwardResult,
    GeomType,
    HfieldSpec,
    JointType,
    LoadReport,
    MeshSpec,
    MissingCollider,
    Model,
    ModelError,
    ModelWarning,
    ObjectType,
    Options,
    Reference,
    ReportEntry,
    Rollout,
    SensorSpec,
    SensorType,
    SolverCounts,
    Status,
    StepDerivative,
    StepJacobian,
    StepResult,
    TaskInfo,
    TaskOption,
    Terrain,
    TerrainPatch,
    Urdf,
    Transmission,
    WrapType,
    __version__,
    cuda_devices,
    terrain,
)

from .tasks.philox import Draw, Purpose
from .randomization import Param, Randomization, RandomizedEnv
from .adapters.registration import make, register_lazily
from .tasks.task import Task, TaskEnv
from .tasks.names import register
from .tasks.group import EnvGroup
from .terms.task import TermTask
from .motions import Motion
from . import actuators, library, motions

__all__ = [
    "ArgumentError",
    "Batch",
    "BatchMemory",
    "Contact",
    "Contacts",
    "CudaDevice",
    "CudaReport",
    "DeviceArray",
    "Draw",
    "Env",
    "EnvGroup",
    "EqualityType",
    "Error",
    "FieldInfo",
    "ForwardResult",
    "GeomType",
    "HfieldSpec",
    "JointType",
    "LoadReport",
    "MeshSpec",
    "MissingCollider",
    "Model",
    "ModelError",
    "ModelWarning",
    "Motion",
    "ObjectType",
    "Options",
    "Param",
    "Purpose",
    "Randomization",
    "RandomizedEnv",
    "Reference",
    "ReportEntry",
    "Rollout",
    "SensorSpec",
    "SensorType",
    "SolverCounts",
    "Status",
    "StepDerivative",
    "StepJacobian",
    "StepResult",
    "Task",
    "TaskEnv",
    "TaskInfo",
    "TaskOption",
    "TermTask",
    "Terrain",
    "TerrainPatch",
    "Transmission",
    "Urdf",
    "WrapType",
    "__version__",
    "actuators",
    "assets",
    "cuda_devices",
    "fit",
    "identify",
    "make",
    "motions",
    "register",
    "rotations",
    "sensors",
    "terms",
    "terrain",
]

# Messages, pickles and help name the public package.
for _name in __all__:
    if isinstance(getattr(_core, _name, None), type):
        getattr(_core, _name).__module__ = __name__
del _name

register_lazily()


def __getattr__(name):
    # loads XML, CSV and zip files, which a simulation does without
    if name in ("fit", "identify"):
        from . import identification

        return getattr(identification, name)
    if name == "recording":
        import importlib

        return importlib.import_module(".recording", __name__)
    raise AttributeError(f"module 'stiction' has no attribute '{name}'")
