"""Ctrl-C as a request: finish what is being written, then end."""

import signal
import threading


class CtrlC:
    """Within the block the first Ctrl-C only sets `pressed`; a second one interrupts as usual."""

    def __init__(self):
        self._event = threading.Event()
        self._previous = None

    @property
    def pressed(self) -> bool:
        return self._event.is_set()

    def _handle(self, number, frame):
        if self.pressed:
            raise KeyboardInterrupt
        self._event.set()

    def __enter__(self):
        # Only the main thread may set handlers, and only it gets the signal.
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_):
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
