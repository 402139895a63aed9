"""A model of which something is not computed says so when it is loaded."""

import warnings

import pytest

import stiction

DRUMS = """<mujoco>
  <asset><hfield name="hills" file="hills.png" size="1 1 1 1"/></asset>
  <worldbody>
    <geom name="ground" type="hfield" hfield="hills" surfacevel="1" adhesion="1"/>
    <body name="drum" pos="0 0 3"><joint name="j" stiffness="1" springyield="3"/>
      <geom name="skin" type="cylinder" size="1 1"/></body>
  </worldbody>
</mujoco>"""
BALL = "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>"


@pytest.fixture
def drums(tmp_path):
    path = tmp_path / "drums.xml"
    path.write_text(DRUMS)
    return path


def test_one_warning_with_the_gravest_three(drums):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = stiction.Model.from_file(drums)
        stiction.Model.from_xml(BALL)
    (w,) = said
    assert w.category is stiction.ModelWarning and issubclass(w.category, UserWarning)
    assert w.filename == __file__, "the line that loads"
    text = str(w.message).splitlines()
    assert text[0].startswith(str(drums))
    assert "no collider: 1 pair hfield-cylinder: 'ground' and 'skin'" in text[1]
    assert f"{drums}:4: <geom adhesion" in text[2]
    assert text[4] == "and 1 more"
    assert "model.report" in text[5] and "strict=True" in text[5]
    assert model.report.summary().splitlines() == text[1:5]
    assert stiction.Model.from_xml(BALL).report.summary() == ""


def test_filters_are_those_of_python(drums):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(stiction.ModelWarning):
            stiction.Model.from_file(drums)
        warnings.filterwarnings("ignore", category=stiction.ModelWarning)
        stiction.Model.from_file(drums)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a refusal is an error and no warning
        with pytest.raises(stiction.ModelError, match="strict"):
            stiction.Model.from_file(drums, strict=True)


@pytest.mark.parametrize("command", (["info"], ["rollout", "--steps", "1"]))
def test_the_command_line_says_it(cli, drums, command):
    done = cli(command[0], str(drums), *command[1:])
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"stiction: warning: {drums} has physics that is not computed")
    assert "hfield-cylinder" in done.stderr and "Warning:" not in done.stderr


def test_check_model_prints_its_table_only(cli, drums):
    done = cli("check-model", str(drums))
    assert done.returncode == 0 and done.stderr == ""
    assert "hfield-cylinder" in done.stdout


def test_a_view_says_it(drums):
    from stiction.view.motion import ModelMotion

    with pytest.warns(stiction.ModelWarning, match="hfield-cylinder"):
        ModelMotion(drums, None, "zero", 0)


def test_a_task_says_it(drums):
    """What `play` and `bench` step is a task; those of the package have nothing to say."""
    with pytest.warns(stiction.ModelWarning, match="hfield-cylinder"):
        stiction.tasks.task._load(str(drums))
    for info in stiction.Env.tasks():
        assert stiction.Env(info.id, 1).batch.model.report.complete, info.id
