"""What all sensors have."""

import weakref


class Sensor:
    """Base class. A task makes a copy of its own, and calls `bind` once, `measure` after the physics of each control
    step, `begin(ids)` when episodes have begun and `move_on` before the next physics. What `bind` makes is memory of
    the task: saved, resumed, put back after an error."""

    def check(self, name):
        """Refuses what can't be, with the name of the sensor."""

    def bind(self, task, name):
        self.task, self.name, self.path = weakref.proxy(task), name, f"sensors.{name}"
        self.title = f"{task.title}.sensors[{name!r}]"
        self.xp = task.xp
        self.setup()

    def setup(self):
        """Once, when task.batch exists: look up indices, make memory of (num_envs, ...)."""

    def begin(self, ids):
        """Episodes of the environments `ids` have begun; the state is their first one."""

    def measure(self):
        """The physics of a control step has been done."""

    def move_on(self):
        """What was measured last becomes the past."""
