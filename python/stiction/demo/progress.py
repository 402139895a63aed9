"""A bar on a terminal, plain lines elsewhere."""

import sys
import threading
import time

from .._util.text import say


class Progress:
    """Counts units of work from many threads; `show` belongs to one thread.

    On a terminal a tqdm bar, where tqdm is installed; else a line at every quarter.
    """

    def __init__(self, total: int, what: str, unit: str):
        self.total, self.what, self.unit = total, what, unit
        self.done = self._shown = 0
        self._lock = threading.Lock()
        self._begin = time.perf_counter()
        self._bar = self._make_bar() if sys.stderr.isatty() else None

    def _make_bar(self):
        try:
            from tqdm import tqdm
        except ImportError:
            return None
        return tqdm(total=self.total, desc=self.what, unit=self.unit, unit_scale=True)

    def advance(self, n: int = 1):
        with self._lock:
            self.done += n

    def show(self):
        done = self.done
        if self._bar is not None:
            self._bar.update(done - self._shown)
            self._shown = done
        elif 4 * done // self.total > 4 * self._shown // self.total:
            seconds = time.perf_counter() - self._begin
            say(f"{self.what}: {100 * done // self.total:3d} % after {seconds:.1f} s", flush=True)
            self._shown = done

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.show()
        if self._bar is not None:
            self._bar.close()
