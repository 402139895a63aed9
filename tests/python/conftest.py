"""What the Python tests share: robots and the command line."""

import subprocess
import sys

import numpy as np
import pytest

import engines
import stiction
from robots import PENDULUM, SPHERE
from stiction.doctor import demo_model


@pytest.fixture(scope="session")
def quadruped():
    return stiction.Model.from_file(demo_model())


@pytest.fixture(scope="session")
def reference(quadruped):
    return stiction.Reference(quadruped)


@pytest.fixture(scope="session")
def home(quadruped):
    """(qpos, qvel, ctrl) of the quadruped standing."""
    k = quadruped.key("home")
    return quadruped.key_qpos[k], quadruped.key_qvel[k], quadruped.key_ctrl[k]


@pytest.fixture(scope="session")
def tumbling(quadruped):
    """(qpos, qvel) of the quadruped in the air, every number different."""
    rng = np.random.default_rng(7)
    qpos = quadruped.key_qpos[0].copy()
    qpos[:3] = (0.3, -0.2, 0.4)
    qpos[3:7] = rng.normal(size=4)
    qpos[3:7] /= np.linalg.norm(qpos[3:7])
    qpos[7:] += rng.uniform(-0.3, 0.3, quadruped.nq - 7)
    return qpos, rng.normal(size=quadruped.nv)


@pytest.fixture
def sphere():
    return stiction.Model.from_xml(SPHERE)


@pytest.fixture
def pendulum():
    return stiction.Model.from_xml(PENDULUM)


@pytest.fixture
def sphere_file(tmp_path):
    path = tmp_path / "sphere.xml"
    path.write_text(SPHERE)
    return path


@pytest.fixture(scope="session")
def cli():
    """Runs `python -m stiction ARGS`; stdout and stderr as text."""

    def run(*args, timeout=60):
        command = [sys.executable, "-m", "stiction", *map(str, args)]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout)

    return run


def pytest_generate_tests(metafunc):
    """Acceptance tests and anchored stiction run on the reference and on a batch in float64."""
    name = metafunc.module.__name__
    if name.startswith("test_acceptance") or name == "test_anchored":
        metafunc.fixturenames.append("engine")
        metafunc.parametrize("engine", (engines.REFERENCE, engines.FLOAT64), indirect=True)


@pytest.fixture
def engine(request):
    """The engine behind `engines.make` in this test."""
    engines.chosen = request.param
    yield request.param
    engines.chosen = engines.REFERENCE
