"""Logs: columns by name, units, other headers; what is wrong is refused with file, line and column."""

import numpy as np
import pytest

import stiction
from robot_logs import arm, block, pendulum
from stiction.identification import Log, read_log

ARM = stiction.Model.from_xml(arm(0.4, 0.02, 0.35, 40))
PENDULUM = stiction.Model.from_xml(pendulum(0.1, 0.01, 0))
FREE = stiction.Model.from_xml(block(2, 0.4, '<freejoint name="root"/>'))

HEADER = "time,qpos[shoulder],qpos[elbow],qvel[shoulder],qvel[elbow],ctrl[shoulder],ctrl[elbow]"
ROWS = ["0,0.1,0.2,0.3,0.4,0.5,0.6", "0.01,1.1,1.2,1.3,1.4,1.5,1.6", "0.02,2.1,2.2,2.3,2.4,2.5,2.6"]


def write(tmp_path, *lines):
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_columns_by_name(tmp_path):
    log = read_log(write(tmp_path, HEADER, *ROWS), ARM)
    np.testing.assert_allclose(log.time, [0, 0.01, 0.02])
    np.testing.assert_allclose(log.qpos[:, 1], [0.2, 1.2, 2.2])
    np.testing.assert_allclose(log.qvel[:, 0], [0.3, 1.3, 2.3])
    np.testing.assert_allclose(log.ctrl[2], [2.5, 2.6])
    assert log.unused == ()


def test_any_order_other_columns_units_and_comments(tmp_path):
    path = write(
        tmp_path,
        "# arm 7, in spring",
        "note, command[elbow],t (ms), q[elbow] (deg),qd[elbow] (rpm),position[shoulder],u[shoulder]",
        "warm,6,0,180,60,1,5",
        "",
        "hot,6,10,90,-60,1,5",
        "hot,6,20,0,0,1,5",
    )
    log = read_log(path, ARM)
    np.testing.assert_allclose(log.time, [0, 0.01, 0.02])
    np.testing.assert_allclose(log.qpos[:, 1], [np.pi, np.pi / 2, 0])
    np.testing.assert_allclose(log.qvel[:, 1], [2 * np.pi, -2 * np.pi, 0])
    assert np.isnan(log.qvel[:, 0]).all() and log.unused == ("note",)


def test_headers_are_mapped(tmp_path):
    header = HEADER.replace("qpos[elbow]", "elbow angle").replace("time", "stamp")
    log = read_log(write(tmp_path, header, *ROWS), ARM, {"qpos[elbow] (deg)": "elbow angle", "time": "stamp"})
    np.testing.assert_allclose(log.qpos[:, 1], np.radians([0.2, 1.2, 2.2]))


def test_by_index_as_rollout_writes_them_and_alone(tmp_path):
    log = read_log(
        write(tmp_path, "time,qpos_0,qpos_1,ctrl_0,ctrl_1", *(",".join(r.split(",")[:5]) for r in ROWS)), ARM
    )
    np.testing.assert_allclose(log.qpos[:, 1], [0.2, 1.2, 2.2])
    log = read_log(write(tmp_path, "t,q,qdot,u", "0,1,2,3", "1,1,2,3", "2,1,2,4"), PENDULUM)
    np.testing.assert_allclose(log.ctrl[:, 0], [3, 3, 4])


def test_numbers_of_a_free_joint(tmp_path):
    names = ["time", *(f"qpos[root.{k}]" for k in range(7)), "ctrl[push]"]
    row = lambda t: f"{t},0,0,.05,2,0,0,0,1"
    path = write(tmp_path, ",".join(names), row(0), row(1), row(2))
    with pytest.raises(
        stiction.ArgumentError, match=r"log.csv:2: columns 'qpos\[root.3\]' on are a quaternion of length 2, not 1$"
    ):
        read_log(path, FREE)
    path.write_text(path.read_text().replace(",2,0,0,0,", ",1.004,0,0,0,"))
    np.testing.assert_allclose(read_log(path, FREE).qpos[0, 3:], [1, 0, 0, 0])


@pytest.mark.parametrize(
    "lines, message",
    [
        (
            [HEADER, ROWS[0], ROWS[1].replace("1.4", "nan"), ROWS[2]],
            "log.csv:3: column 'qvel[elbow]' is nan: leave the row out; a gap in time begins a new window",
        ),
        (
            [HEADER, ROWS[0], ROWS[1].replace("1.5", "inf"), ROWS[2]],
            "log.csv:3: column 'ctrl[shoulder]' is inf: leave the row out; a gap in time begins a new window",
        ),
        (
            [HEADER, ROWS[0], ROWS[1], "# pause", "0.005" + ROWS[2][4:]],
            "log.csv:5: column 'time' is 0.005 s after 0.01 s: time must grow from row to row",
        ),
        (
            [HEADER, ROWS[0], ROWS[0], ROWS[1]],
            "log.csv:3: column 'time' is 0 s after 0 s: time must grow from row to row",
        ),
        (
            [HEADER, ROWS[0], ROWS[1].replace("1.2", "1;2"), ROWS[2]],
            "log.csv:3: column 'qpos[elbow]': '1;2' is not a number",
        ),
        ([HEADER, ROWS[0], ROWS[1] + ",7", ROWS[2]], "log.csv:3: 8 columns; the header has 7"),
        ([HEADER, *ROWS[:2]], "log.csv: 2 rows; at least 3 are needed"),
        ([], "log.csv: empty; expected a header and rows"),
        (
            [HEADER.replace("qpos[elbow]", "qpos[elbw]"), *ROWS],
            "log.csv: column 'qpos[elbw]': no qpos[elbw] in the model; nearest: 'qpos[elbow]'",
        ),
        (
            [HEADER.replace("qpos[elbow]", "current"), *ROWS],
            "log.csv: no column qpos[elbow]; columns are mapped by --column "
            "'qpos[elbow]=HEADER', columns={...} in Python",
        ),
        (
            [HEADER.replace("qvel[elbow]", "q[elbow]"), *ROWS],
            "log.csv: two columns are qpos[elbow]: 'qpos[elbow]' and 'q[elbow]'",
        ),
        (
            [HEADER.replace("qpos[elbow]", "qpos[elbow] (mm)"), *ROWS],
            "log.csv: column 'qpos[elbow] (mm)': unit 'mm': must be rad, deg, rev",
        ),
        ([HEADER.replace("qpos[elbow]", "qpos_2"), *ROWS], "log.csv: column 'qpos_2': the model has 2 numbers in qpos"),
    ],
    ids=[
        "nan",
        "inf",
        "back",
        "twice",
        "text",
        "ragged",
        "short",
        "empty",
        "misspelt",
        "missing",
        "double",
        "unit",
        "index",
    ],
)
def test_what_is_refused(tmp_path, monkeypatch, lines, message):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, *lines) if lines else (tmp_path / "log.csv").write_text("")
    with pytest.raises(stiction.ArgumentError) as refused:
        read_log("log.csv", ARM)
    assert str(refused.value) == message


def test_wrong_maps_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, HEADER, *ROWS)
    with pytest.raises(stiction.ArgumentError, match=r"^log.csv: no column 'stamp'"):
        read_log("log.csv", ARM, {"time": "stamp"})
    with pytest.raises(stiction.ArgumentError, match="^'speed' is no column of a log: time, qpos"):
        read_log("log.csv", ARM, {"speed": "time"})


def test_npz_of_a_rollout(tmp_path, monkeypatch, cli):
    """The commands of a rollout have no last row: the last one is held."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.xml").write_text(arm(0.4, 0.02, 0.35, 40))
    assert cli("rollout", "arm.xml", "--controls", "random", "--steps", "20", "--output", "log.npz").returncode == 0
    log = read_log("log.npz", ARM)
    assert (
        len(log.time) == len(log.ctrl) == 21
        and np.array_equal(log.ctrl[-1], log.ctrl[-2])
        and not np.isnan(log.qvel).any()
    )


@pytest.mark.parametrize(
    "change, message",
    [
        ({"qpos": None}, "log.npz: no array 'qpos'; there are time, qvel, ctrl"),
        ({"ctrl": None}, "log.npz: no array 'ctrl'; there are time, qpos, qvel"),
        ({"qpos": np.zeros((5, 3))}, "log.npz: qpos has the shape (5, 3); expected (5, 2)"),
        ({"time": [0, 1, 2, 2, 3]}, "log.npz: row 3: column 'time' is 2 s after 2 s: time must grow from row to row"),
        (
            {"qvel": np.where(np.arange(10) == 5, np.nan, 0).reshape(5, 2)},
            "log.npz: row 2: column 'qvel[elbow]' is nan: leave the row out; a gap in time begins a new window",
        ),
    ],
    ids=["no qpos", "no ctrl", "shape", "time", "nan"],
)
def test_what_is_refused_of_an_npz(tmp_path, monkeypatch, change, message):
    monkeypatch.chdir(tmp_path)
    arrays = {
        "time": np.arange(5.0),
        "qpos": np.zeros((5, 2)),
        "qvel": np.zeros((5, 2)),
        "ctrl": np.zeros((5, 2)),
    } | change
    np.savez("log.npz", **{k: v for k, v in arrays.items() if v is not None})
    with pytest.raises(stiction.ArgumentError) as refused:
        read_log("log.npz", ARM)
    assert str(refused.value) == message


def test_no_npz_at_all(tmp_path):
    (tmp_path / "log.npz").write_text("time,qpos")
    with pytest.raises(stiction.Error, match="log.npz: no npz file of numbers"):
        read_log(tmp_path / "log.npz", ARM)


def test_logs_of_python_are_checked():
    with pytest.raises(stiction.ArgumentError, match=r"^log: qpos has the shape \(3, 2\); expected \(3, 1\)$"):
        stiction.fit(PENDULUM, Log([0, 1, 2], np.zeros((3, 2)), ctrl=np.zeros((3, 1))), "dof_damping")
    with pytest.raises(stiction.ArgumentError, match="^no logs$"):
        stiction.fit(PENDULUM, [], "dof_damping")
