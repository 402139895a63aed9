"""linear_solver = "cusolver": where its library is looked for, and what is refused without a card."""

import sys

import pytest
import stiction
from stiction._util import cusolver

OPTIONS = stiction.Options(linear_solver="cusolver")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Makes the files of a package nvidia-... that is found first."""
    monkeypatch.delenv(cusolver.VARIABLE, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [n for n in sys.modules if n.split(".")[0] == "nvidia"]:
        monkeypatch.delitem(sys.modules, name)

    def make(*files):
        for file in files:
            path = tmp_path / "nvidia" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return tmp_path / "nvidia"

    return make


def test_the_newest_library_of_the_package(package):
    folder = package("cusolver/lib/libcusolver.so.11", "cu13/lib/libcusolverMg.so.12")
    assert cusolver.packaged() == folder / "cusolver/lib/libcusolver.so.11"
    package("cu13/lib/libcusolver.so.12")
    assert cusolver.packaged() == folder / "cu13/lib/libcusolver.so.12"


def test_what_the_user_named_comes_first(package, monkeypatch):
    folder = package("cu13/lib/libcusolver.so.12")
    monkeypatch.setenv(cusolver.VARIABLE, "mine.so")
    cusolver.tell_engine()
    assert cusolver.os.environ[cusolver.VARIABLE] == "mine.so"
    monkeypatch.delenv(cusolver.VARIABLE)
    cusolver.tell_engine()
    assert cusolver.os.environ[cusolver.VARIABLE] == str(folder / "cu13/lib/libcusolver.so.12")
    monkeypatch.delenv(cusolver.VARIABLE)


def test_refused_on_the_cpu(package):
    model = stiction.Model.from_xml("<mujoco/>")
    with pytest.raises(stiction.ArgumentError, match="runs on device = 'cuda' only"):
        stiction.Batch(model, 2, options=OPTIONS)
