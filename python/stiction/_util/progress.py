"""How far something that takes a while is: a line on a terminal that is rewritten, nothing elsewhere."""

import sys
import time


class Progress:
    """`show(done, of, what)` as often as one likes; the line is gone when the block ends."""

    EVERY = 0.2  # s

    def __init__(self, stream=None):
        self.stream = stream or sys.stderr
        self._shown, self._width = -1e9, 0

    def show(self, done: int, of: int, what: str):
        now = time.monotonic()
        if not self.stream.isatty() or now - self._shown < self.EVERY:
            return
        self._shown = now
        line = f"{what} {done} of {of}, {100 * done // max(of, 1)} %"
        self.stream.write("\r" + line.ljust(self._width))
        self.stream.flush()
        self._width = len(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._width:
            self.stream.write("\r" + " " * self._width + "\r")
            self.stream.flush()
