"""A training in several processes: one per device, each with its share of the environments.

torchrun, PyTorch's launcher, starts them and tells each by environment variables which one it is: RANK of
WORLD_SIZE in all, LOCAL_RANK of LOCAL_WORLD_SIZE on its machine. Without these a process is the only rank.
torch is imported by the calls that talk to other ranks and by nothing else.
"""

import atexit
import os
import sys
from dataclasses import dataclass

from .._core import ArgumentError, Error
from .._util.machine import usable_cores
from .._util.text import visible

_LOST = ("gloo", "connection closed", "connection reset", "connection refused", "broken pipe", "socket")


def _variable(name: str, default: int) -> int:
    text = os.environ.get(name, str(default))
    try:
        return int(text)
    except ValueError:
        raise Error(f"{name}={visible(text)}: must be a whole number, as torchrun sets it") from None


class OtherRankEnded(Error):
    """A call to other ranks failed because one of them is not there any more."""


@dataclass(frozen=True)
class Ranks:
    rank: int = 0  # of this process
    size: int = 1  # processes in all
    local_rank: int = 0  # of this process among those of its machine
    local_size: int = 1
    restarts: int = 0  # how often torchrun has begun anew after the end of a rank

    @classmethod
    def of_environment(cls):
        """What torchrun says; Error on numbers that no launcher sets."""
        size = _variable("WORLD_SIZE", 1)
        if size == 1:
            return cls(restarts=_variable("TORCHELASTIC_RESTART_COUNT", 0))
        rank, local = _variable("RANK", -1), _variable("LOCAL_RANK", 0)
        if not 0 <= rank < size or local < 0:
            raise Error(f"RANK={rank}, LOCAL_RANK={local} of WORLD_SIZE={size}: start the ranks with torchrun")
        return cls(rank, size, local, _variable("LOCAL_WORLD_SIZE", 1), _variable("TORCHELASTIC_RESTART_COUNT", 0))

    @property
    def first(self) -> bool:
        """Whether this one prints and writes files."""
        return self.rank == 0

    def share(self, num_envs: int) -> tuple[int, int]:
        """(number of the first environment, how many) of this rank; ArgumentError where shares differ."""
        count, left = divmod(num_envs, self.size)
        if left or not count:
            near = max(self.size, num_envs - left)
            raise ArgumentError(f"--num-envs {num_envs}: {self.size} ranks share them alike: take {near}, or "
                                f"{near + self.size}")  # fmt: skip
        return self.rank * count, count

    def threads(self, given: int | None) -> int | None:
        """Threads of this rank's simulator: the given number, else its share of the cores; None means all of them."""
        if given or self.local_size == 1:
            return given
        return max(1, usable_cores() // self.local_size)

    def device(self, name: str | None) -> str | None:
        """`name`, where "cuda" means the card of this rank."""
        if name is None or self.size == 1 or not name.startswith("cuda"):
            return name
        mine = f"cuda:{self.local_rank}"
        if name not in ("cuda", mine) and self.local_size > 1:
            raise ArgumentError(f"--device {name}: {self.local_size} ranks of this machine have a card each: "
                                "take --device cuda")  # fmt: skip
        return mine if name == "cuda" else name

    # ---------------------------------------------------------------------------- talk

    def join(self, device: str):
        """Finds the other ranks: gloo carries what is on CPUs, NCCL what is on cards. Once per process."""
        if self.size == 1:
            return
        import torch
        import torch.distributed as dist

        if device.startswith("cuda"):
            torch.cuda.set_device(device)
        if dist.is_initialized():
            return
        try:
            dist.init_process_group("cpu:gloo,cuda:nccl" if device.startswith("cuda") else "gloo")
        except (RuntimeError, ValueError) as e:
            raise Error(f"rank {self.rank} of {self.size} did not find the others: {_line(e)}") from None
        atexit.register(lambda: dist.is_initialized() and dist.destroy_process_group())

    def from_first(self, make):
        """What `make()` gives in the first rank, for all. Where it raises, it raises there, which says why, and
        the others end without a word."""
        if self.size == 1:
            return make()
        import torch.distributed as dist

        box = [False, None]
        try:
            if self.first:
                box = [True, make()]
        finally:
            self._talk(lambda: dist.broadcast_object_list(box, src=0))
        if not box[0]:
            sys.exit(1)
        return box[1]

    def gather(self, mine) -> list | None:
        """What all ranks have, in their order, for the first one; None for the others."""
        if self.size == 1:
            return [mine]
        import torch.distributed as dist

        everyone = [None] * self.size if self.first else None
        self._talk(lambda: dist.gather_object(mine, everyone, dst=0))
        return everyone

    def gather_all(self, *numbers: float):
        """(size, len(numbers)) doubles: those of all ranks, in their order, for all."""
        import torch

        mine = torch.tensor(numbers, dtype=torch.float64)
        if self.size == 1:
            return mine[None]
        everyone = [torch.empty_like(mine) for _ in range(self.size)]
        self._talk(lambda: torch.distributed.all_gather(everyone, mine))
        return torch.stack(everyone)

    def any(self, mine: bool) -> bool:
        """Whether it is so in any of them."""
        return bool(mine) if self.size == 1 else bool(self.gather_all(float(mine)).any())

    def _talk(self, call):
        try:
            call()
        except RuntimeError as e:
            raise self.explained(e) from None

    def explained(self, error: RuntimeError) -> Exception:
        """The error of a call to other ranks as OtherRankEnded; another one as it is."""
        lost = self.size > 1 and any(word in str(error).lower() for word in _LOST)
        return OtherRankEnded(f"rank {self.rank}: another rank has ended ({_line(error)})") if lost else error


def _line(error) -> str:
    return visible((str(error).strip() or type(error).__name__).splitlines()[0])[:160]
