"""Files that are replaced as a whole, and folders that one process at a time writes to."""

import contextlib
import errno
import fcntl
import os
import secrets
import shutil
import socket
import stat
import time
from pathlib import Path

from .._core import Error
from .text import visible

PART = ".part-"  # begins the name of what is being written; the writer's process follows
ABANDONED = 60.0  # s without a write

# what file systems answer that have no locks: NFS without lockd, Lustre without -o flock, some FUSE
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_NO_FSYNC = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS)  # of a folder


def _sync(path):
    """Returns when the disk has what `path`, a file or a folder, is now."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    except OSError as e:
        if not os.path.isdir(path) or e.errno not in _NO_FSYNC:
            raise
    finally:
        os.close(fd)


def _make_part(target: Path) -> Path:
    """An empty neighbour of `target` that nobody else has, with its owner and mode where it exists."""
    part = target.with_name(f"{PART}{os.getpid()}-{secrets.token_hex(4)}-{target.name}")
    try:
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as e:
        raise type(e)(e.errno, e.strerror, str(target)) from None  # the name that the user knows
    try:
        with contextlib.suppress(FileNotFoundError):
            old = os.stat(target)
            with contextlib.suppress(PermissionError):
                os.fchown(fd, old.st_uid, old.st_gid)
            os.fchmod(fd, stat.S_IMODE(old.st_mode))
    finally:
        os.close(fd)
    return part


@contextlib.contextmanager
def replacing(path):
    """Within the block: an empty file to be written by name, with the suffix of `path`. It takes the
    place of `path` once it is complete and on the disk; after an exception nothing has changed.

    A symbolic link stays one, what it points to is replaced; owner and mode are kept. A device or a
    pipe is written as it is.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield target  # a folder is refused by whoever opens it
        return
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    part = _make_part(target)
    try:
        yield part
        _sync(part)
        os.replace(part, target)
        _sync(target.parent)
    finally:
        part.unlink(missing_ok=True)


def write_atomically(path, write):
    """`write(file)` for a binary file that takes the place of `path` as in `replacing`."""
    with replacing(path) as part, open(part, "wb") as file:
        write(file)


def write_text(path, text: str):
    write_atomically(path, lambda file: file.write(text.encode()))


@contextlib.contextmanager
def new_folder(folder):
    """Within the block: an empty folder to be filled. It gets the name `folder` once it is complete and on the disk; after an
    exception nothing is there. Error where something of that name is."""
    folder = Path(folder)
    if os.path.lexists(folder):
        raise Error(f"{visible(folder)} is there already: give the name of a new folder")
    part = folder.with_name(f"{PART}{os.getpid()}-{secrets.token_hex(4)}-{folder.name}")
    try:
        part.mkdir()
        yield part
        for file in part.rglob("*"):
            if file.is_file():
                _sync(file)
        part.rename(folder)
    except OSError as e:
        raise type(e)(e.errno, e.strerror, str(folder)) from None  # the name that the user knows
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_folder(folder, files: dict[str, bytes]):
    """A new folder with these files, all of them or none. Error where something of that name is there."""
    with new_folder(folder) as part:
        for name, content in files.items():
            (part / name).write_bytes(content)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _remove_abandoned(folder: Path):
    """What processes of this machine were writing when they were killed."""
    for part in folder.glob(PART + "*"):
        with contextlib.suppress(OSError, ValueError):
            pid = int(part.name.removeprefix(PART).split("-")[0])
            if not _is_running(pid) and time.time() - part.stat().st_mtime > ABANDONED:
                part.unlink()


class FolderLock:
    """Within the block no other process, on any machine, holds the lock of `folder`.

    The lock is the kernel's on the file .lock, which ends with its process, so nothing is left to be
    removed after a crash; the file says who has it. On a file system without locks the file itself is
    the lock, and one of a dead process of this machine is taken over.
    """

    def __init__(self, folder, remedy: str):
        self.folder, self.path, self.remedy = Path(folder), Path(folder) / ".lock", remedy
        self._fd = None

    def __enter__(self):
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        self._mine = f"process {os.getpid()} on {socket.gethostname()} since {since}"
        lock = self._lock_by_kernel if self._has_kernel_locks() else self._lock_by_file
        while not lock():
            pass
        _remove_abandoned(self.folder)
        return self

    def __exit__(self, *_):
        self.path.unlink(missing_ok=True)  # while it is held: nobody else's
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _refuse(self, owner: str, more=""):
        raise Error(f"{visible(self.folder)} is in use by {visible(owner) or 'another process'}: {self.remedy}{more}")

    def _has_kernel_locks(self) -> bool:
        """Tried on a file of its own: a trial on .lock would make the file that is the lock elsewhere."""
        part = _make_part(self.path)
        try:
            with open(part, "r+b") as file:  # NFS locks only what is open for writing
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError as e:
            if e.errno not in _NO_LOCKS:
                raise
            return False
        finally:
            part.unlink(missing_ok=True)

    def _lock_by_kernel(self) -> bool:
        """False where the file was removed by its owner after it had been opened here."""
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._refuse(os.pread(fd, 1000, 0).decode(errors="replace"))
            try:
                ours = os.path.samestat(os.fstat(fd), os.stat(self.path))
            except FileNotFoundError:
                ours = False
            if ours:
                os.ftruncate(fd, 0)
                os.pwrite(fd, self._mine.encode(), 0)
                self._fd, fd = fd, None
            return ours
        finally:
            if fd is not None:
                os.close(fd)

    def _lock_by_file(self) -> bool:
        """False where another try may succeed. A link comes into being with its text or not at all."""
        part = _make_part(self.path)
        try:
            part.write_text(self._mine)
            try:
                os.link(part, self.path)
                return True
            except FileExistsError:
                return self._is_left_by_the_dead() and self._take_over(part)
        finally:
            part.unlink(missing_ok=True)

    def _is_left_by_the_dead(self) -> bool:
        """False where nobody has the lock any more; refuses where its owner may be alive."""
        try:
            owner = self.path.read_text(errors="replace")
        except FileNotFoundError:
            return False
        words = owner.split()  # none: its owner died between the file and its text
        if words and (words[3] != socket.gethostname() or _is_running(int(words[1]))):
            self._refuse(owner, f"; if that process has ended, remove {visible(self.path)}")
        return True

    def _take_over(self, part: Path) -> bool:
        """One process at a time takes over, and looks again once it is the one: a second process that
        saw the dead owner before would otherwise replace the first one's lock."""
        turn = self.path.with_name(".lock-turn")
        try:
            os.link(part, turn)
        except FileExistsError:
            with contextlib.suppress(FileNotFoundError):
                if time.time() - turn.stat().st_mtime > ABANDONED:
                    remedy = f"; if that process has ended, remove {visible(turn)}"
                    self._refuse(turn.read_text(errors="replace"), remedy)
            time.sleep(0.001)
            return False
        try:
            is_dead = self._is_left_by_the_dead()
            if is_dead:
                os.replace(part, self.path)
            return is_dead
        finally:
            turn.unlink(missing_ok=True)
