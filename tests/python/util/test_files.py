"""Files that are replaced whole, and folders that belong to one process at a time."""

import errno
import fcntl
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import stiction
from stiction._util import files
from stiction._util.files import FolderLock, replacing, write_atomically, write_text
from stiction.learning.policy import Policy

TASK = "InvertedPendulum-v5"


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


# ------------------------------------------------------------------------------- replacing


def test_mode_and_owner_are_kept(tmp_path):
    file = tmp_path / "policy.npz"
    policy = Policy(3, [-1], [1])
    policy.save(file)
    for mode in (0o640, 0o600, 0o664):
        file.chmod(mode)
        if os.geteuid() == 0:
            os.chown(file, 12345, 54321)
        policy.save(file)
        assert mode_of(file) == mode
    if os.geteuid() == 0:
        assert (file.stat().st_uid, file.stat().st_gid) == (12345, 54321)
    assert Policy.load(file).num_obs == 3 and os.listdir(tmp_path) == ["policy.npz"]


def test_a_new_file_has_the_mode_of_the_process(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "a", "x")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "a") == 0o640


def test_a_link_stays_one(tmp_path):
    (tmp_path / "far").mkdir()
    link, file = tmp_path / "link", tmp_path / "far" / "file"
    link.symlink_to("far/file")
    for text in ("first", "second"):
        write_text(link, text)
        assert link.is_symlink() and not file.is_symlink() and file.read_text() == text
    assert os.listdir(tmp_path / "far") == ["file"]


def test_a_pipe_is_written_as_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with open(pipe, "r+b", buffering=0) as reader:
        write_text(pipe, "text\n")
        assert reader.read(5) == b"text\n"
    assert pipe.is_fifo()


def test_what_fails_changes_nothing(tmp_path):
    file = tmp_path / "a"
    write_text(file, "old")

    def half(out):
        out.write(b"n")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(file, half)
    assert file.read_text() == "old" and os.listdir(tmp_path) == ["a"]
    with pytest.raises(FileNotFoundError, match="nowhere/a'"):
        write_text(tmp_path / "nowhere" / "a", "x")
    with pytest.raises(IsADirectoryError):
        write_text(tmp_path, "x")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_what_may_not_be_written_stays(tmp_path):
    file = tmp_path / "a"
    write_text(file, "old")
    file.chmod(0o444)
    with pytest.raises(PermissionError):
        write_text(file, "new")
    assert file.read_text() == "old"


def test_the_disk_has_it_before_it_counts(tmp_path, monkeypatch):
    """The bytes before the name, and the name before the call returns."""
    done, fsync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (done.append(os.readlink(f"/proc/self/fd/{fd}")), fsync(fd)))
    monkeypatch.setattr(os, "replace", lambda a, b: (done.append("replace"), replace(a, b)))
    write_text(tmp_path / "a", "x")
    assert len(done) == 3 and files.PART in done[0] and done[1:] == ["replace", str(tmp_path)]


def test_a_disk_that_fails_at_the_end(tmp_path, monkeypatch):
    """Network file systems say only at fsync that there is no room."""
    write_text(tmp_path / "a", "old")

    def full(fd):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_text(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "old" and os.listdir(tmp_path) == ["a"]


def test_batch_files_are_replaced_alike(tmp_path, sphere):
    batch = stiction.Batch(sphere, 2)
    for name, write in (("state", batch.save), ("dump", lambda path: batch.dump(0, path))):
        file, link = tmp_path / name, tmp_path / f"{name}-link"
        write(file)
        file.chmod(0o640)
        link.symlink_to(name)
        old = file.stat().st_ino
        write(link)
        assert link.is_symlink() and mode_of(file) == 0o640 and file.stat().st_ino != old
        with pytest.raises(stiction.Error, match="can't be written: No such file"):
            write(tmp_path / "nowhere" / name)
    batch.load(tmp_path / "state-link")
    assert not list(tmp_path.glob(".part-*"))


# ------------------------------------------------------------------------------- FolderLock


def no_locks(monkeypatch):
    def refuse(fd, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)


@pytest.fixture(params=["kernel", "file"])
def kind(request, monkeypatch):
    if request.param == "file":
        no_locks(monkeypatch)
    return request.param


def test_a_folder_has_one_owner_and_says_which(tmp_path, kind):
    with FolderLock(tmp_path, "wait"):
        owner = rf"process {os.getpid()} on {socket.gethostname()} since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d"
        with pytest.raises(stiction.Error, match=rf"{tmp_path} is in use by {owner}: wait"):
            with FolderLock(tmp_path, "wait"):
                pass
        assert (tmp_path / ".lock").exists()
    assert os.listdir(tmp_path) == []
    with FolderLock(tmp_path, "wait"):
        pass


def test_a_lock_of_the_dead_is_taken_over(tmp_path, kind):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for text in (f"process {dead.pid} on {socket.gethostname()} since 2026-01-02 03:04:05", ""):
        (tmp_path / ".lock").write_text(text)
        with FolderLock(tmp_path, "wait"):
            assert f"process {os.getpid()} on" in (tmp_path / ".lock").read_text()
        assert os.listdir(tmp_path) == []


def test_without_locks_another_machine_is_believed(tmp_path, monkeypatch):
    no_locks(monkeypatch)
    (tmp_path / ".lock").write_text("process 1 on elsewhere since 2026-01-02 03:04:05")
    with pytest.raises(stiction.Error, match="on elsewhere since .*remove .*/.lock"):
        FolderLock(tmp_path, "wait").__enter__()
    assert os.listdir(tmp_path) == [".lock"]


def test_a_lock_whose_file_is_removed_meanwhile_is_tried_again(tmp_path, monkeypatch):
    """Its owner ends between our opening of the file and our lock: that would be a lock of no name."""
    flock, calls = fcntl.flock, []

    def late(fd, operation):
        calls.append(fd)
        if len(calls) == 2:  # the first is the trial whether there are locks
            (tmp_path / ".lock").unlink()
        flock(fd, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with FolderLock(tmp_path, "wait"):
        assert len(calls) == 3
        with pytest.raises(stiction.Error, match="in use by"):
            FolderLock(tmp_path, "wait").__enter__()


@pytest.fixture
def after_a_dead_owner(tmp_path, monkeypatch):
    no_locks(monkeypatch)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / ".lock").write_text(f"process {dead.pid} on {socket.gethostname()} since then")
    return tmp_path


def test_one_takes_over_while_another_waits(after_a_dead_owner, monkeypatch):
    """Who comes while a lock is taken over waits, finds it taken, and moves nothing."""
    folder, replace, late = after_a_dead_owner, os.replace, []

    def slowly(a, b):
        def second():
            with pytest.raises(stiction.Error, match=rf"in use by process {os.getpid()} on"):
                FolderLock(folder, "wait").__enter__()
            late.append(replaced)

        replaced = []
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.1)
        assert thread.is_alive()  # waits
        replace(a, b)
        replaced.append(b)
        threads.append(thread)

    threads = []
    monkeypatch.setattr(os, "replace", slowly)
    with FolderLock(folder, "wait"):
        threads[0].join(60)
        assert late == [[folder / ".lock"]] and len(threads) == 1
        assert os.listdir(folder) == [".lock"]


def test_what_changed_before_our_turn_is_looked_at_again(after_a_dead_owner, monkeypatch):
    folder, link = after_a_dead_owner, os.link
    other = f"process {os.getpid()} on {socket.gethostname()} since now"

    def late(a, b):
        if str(b).endswith(".lock-turn"):
            (folder / ".lock").write_text(other)  # another process has just taken over
        link(a, b)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(stiction.Error, match="in use by .* since now"):
        FolderLock(folder, "wait").__enter__()
    assert (folder / ".lock").read_text() == other and os.listdir(folder) == [".lock"]


def test_who_dies_while_taking_over_is_named(after_a_dead_owner):
    turn = after_a_dead_owner / ".lock-turn"
    turn.write_text("process 1 on here since then")
    os.utime(turn, (time.time() - 2 * files.ABANDONED,) * 2)
    with pytest.raises(stiction.Error, match=r"process 1 on here since then.*remove .*/.lock-turn"):
        FolderLock(after_a_dead_owner, "wait").__enter__()


CONTEND = """
import errno, fcntl, os, sys, time
from stiction import Error
from stiction._util.files import FolderLock
folder, kind = sys.argv[1:]
if kind == "file":
    def refuse(fd, operation):
        raise OSError(errno.ENOLCK, "No locks available")
    fcntl.flock = refuse
won, end = 0, time.monotonic() + 20
while won < 15 and time.monotonic() < end:
    try:
        with FolderLock(folder, ""):
            os.mkdir(folder + "/alone")  # fails where two are here
            time.sleep(0.001)
            os.rmdir(folder + "/alone")
            won += 1
    except Error:
        time.sleep(0.002)
print(won)
"""


def test_many_processes_are_in_one_after_the_other(tmp_path, kind):
    command = [sys.executable, "-c", CONTEND, str(tmp_path), kind]
    all = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
           for _ in range(4)]  # fmt: skip
    for process in all:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0 and err == "" and int(out) == 15
    assert os.listdir(tmp_path) == []


def test_what_the_dead_were_writing_is_removed(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    old, young, living = (tmp_path / f"{files.PART}{pid}-{k}-a" for k, pid in
                          enumerate((dead.pid, dead.pid, os.getpid())))  # fmt: skip
    for part, age in ((old, 100), (young, 0), (living, 100)):
        part.write_text("")
        os.utime(part, (time.time() - age,) * 2)
    with FolderLock(tmp_path, ""):
        assert not old.exists() and young.exists() and living.exists()


# ------------------------------------------------------------------------------- two runs


def command(out, *more):
    return [sys.executable, "-u", "-m", "stiction", "train", TASK, "--trainer", "numpy", "--no-plot",
            "--num-envs", "16", "--out", str(out), *more]  # fmt: skip


@pytest.fixture
def running(tmp_path):
    """A training session in the middle of its work, and its folder."""
    with subprocess.Popen(command(tmp_path, "--seconds", "600"), stdout=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "policy.npz").exists():
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.05)
        yield process, tmp_path
        process.kill()


@pytest.mark.parametrize("how", ["--resume", "--overwrite"])
def test_a_second_run_is_refused(running, how):
    process, out = running
    rows = (out / "progress.csv").read_text().splitlines()
    second = subprocess.run(command(out, how), capture_output=True, text=True, timeout=300)
    assert second.returncode == 1 and second.stdout == ""
    assert f"{out} is in use by process {process.pid} on {socket.gethostname()} since" in second.stderr
    assert len(second.stderr.splitlines()) == 1 and "another --out" in second.stderr
    assert (out / "progress.csv").read_text().splitlines()[: len(rows)] == rows
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert process.returncode == 130 and not (out / ".lock").exists()


def test_a_killed_run_leaves_the_folder_free(running):
    process, out = running
    process.kill()
    process.communicate()
    assert (out / ".lock").exists()
    second = subprocess.run(command(out, "--resume", "--iterations", "1"), capture_output=True, text=True)
    assert second.returncode == 0, second.stderr
    assert not (out / ".lock").exists()


def test_a_checkpoint_elsewhere_stays_there(tmp_path):
    """A run whose files are links, with modes of their own, to a larger disk."""
    out, disk = tmp_path / "run", tmp_path / "disk"
    out.mkdir(), disk.mkdir()
    for name in ("policy.npz", "progress.csv", "summary.json"):
        (out / name).symlink_to(disk / name)
    for how in ((), ("--resume",), ("--overwrite",)):
        done = subprocess.run(command(out, "--iterations", "1", *how), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        for name in ("policy.npz", "progress.csv", "summary.json"):
            assert (out / name).is_symlink() and not (disk / name).is_symlink()
            assert not how or mode_of(disk / name) == 0o640
            (disk / name).chmod(0o640)
    assert {p.name for p in disk.iterdir()} == {"policy.npz", "progress.csv", "summary.json"}


def test_readers_meanwhile_see_whole_files(tmp_path):
    file, bad = tmp_path / "a.npz", []
    write = lambda k: write_atomically(file, lambda out: np.savez(out, x=np.full(50_000, k)))
    write(0)
    stop = threading.Event()

    def read():
        while not stop.is_set():
            with np.load(file) as data:
                bad.extend(set(np.unique(data["x"]).tolist()) if np.ptp(data["x"]) else ())

    reader = threading.Thread(target=read)
    reader.start()
    for k in range(50):
        write(k)
    stop.set()
    reader.join()
    assert not bad


def test_a_picture_keeps_its_suffix(tmp_path):
    with replacing(tmp_path / "a.png") as part:
        assert part.suffix == ".png" and part.parent == tmp_path and part.stat().st_size == 0
        part.write_bytes(b"x")
    assert (tmp_path / "a.png").read_bytes() == b"x"
