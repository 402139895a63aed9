"""The learning curve: live in a terminal, as a CSV file, and as a picture."""

import csv
import math
import os
import shutil
import sys
import time
from dataclasses import asdict

from .._util.files import write_atomically
from .._util.text import visible

# Dots of a Braille character (Unicode block 2800), by row and column.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
ROWS, COLUMNS = 12, 64


def braille_plot(points, columns=COLUMNS, rows=ROWS) -> list[str]:
    """Lines of a plot of (x, y) points, x >= 0, with its y axis labelled."""
    points = [(x, y) for x, y in points if math.isfinite(y)]
    if not points:
        return [""] * rows
    right = max(x for x, _ in points) or 1.0
    low, high = min(0.0, min(y for _, y in points)), max(0.0, max(y for _, y in points))
    span = (high - low) or 1.0
    cells = [[0] * columns for _ in range(rows)]
    for x, y in points:
        column = min(int(x / right * 2 * columns), 2 * columns - 1)
        row = min(int((high - y) / span * 4 * rows), 4 * rows - 1)
        cells[row // 4][column // 2] |= _DOTS[row % 4][column % 2]
    lines = []
    for k, row in enumerate(cells):
        label = {0: f"{high:.0f}", rows - 1: f"{low:.0f}"}.get(k, "")
        lines.append(f"{label:>8} │" + "".join(chr(0x2800 + c) if c else " " for c in row).rstrip())
    return lines


METRIC = "metrics/"  # begins the name of a column, and the tag of a logger


def numbers_of(iteration) -> dict:
    """The row of an iteration: its fields, and each metric of the task as metrics/NAME."""
    row = asdict(iteration)
    metrics = row.pop("metrics", {})
    return row | {METRIC + name: value for name, value in metrics.items()}


def foremost(metrics: dict) -> str:
    """", success 0.53": the metric that says most in a line; nothing where there is none."""
    for name in ("success", "x_velocity", "forward_velocity", *metrics):
        if name in metrics:
            return f", {visible(name)} {metrics[name]:.3g}"
    return ""


class LearningCurve:
    """Shows and keeps what the iterations report.

    On a terminal a plot that is drawn anew; elsewhere a line every few seconds. Rows go to
    `path`, one per iteration; an existing file is continued, after iteration `done` where given.
    """

    def __init__(self, path, *, done=None, goal=None, interval=None, stream=None):
        self.stream = stream or sys.stdout
        self.live = self.stream.isatty() and shutil.get_terminal_size().columns >= COLUMNS + 12
        self.interval = interval or (0.25 if self.live else 5.0)
        self.goal = goal  # (seconds, iterations), either None: for the time left
        self.path, self.rows = path, []
        if done is not None and path.exists():
            _cut(path, done)
        self._file = self._writer = None
        self._begin = self._shown = time.perf_counter()
        self._height = 0

    def add(self, iteration):
        seconds = time.perf_counter() - self._begin
        row = {"seconds": round(seconds, 3), **numbers_of(iteration)}
        self.rows.append(row)
        if self._file is None:
            columns = _columns(self.path)
            self._file = open(self.path, "a", newline="")
            # a file goes on with the columns that it has
            self._writer = csv.DictWriter(self._file, columns or list(row), restval="nan", extrasaction="ignore")
            if not columns:
                self._writer.writeheader()
        self._writer.writerow(row)
        self._file.flush()
        if time.perf_counter() - self._shown >= self.interval:
            self.show()

    def _left(self, row) -> str:
        if not self.goal:
            return ""
        seconds, iterations = self.goal
        done = len(self.rows)
        left = [seconds - row["seconds"]] if seconds else []
        if iterations:
            left.append((iterations - done) * row["seconds"] / max(done, 1))
        return f", {max(0, min(left)):.0f} s left" if left else ""

    def line(self) -> str:
        row = self.rows[-1]
        rate = (row["steps"] - self.rows[0]["steps"]) / max(
            row["seconds"] - self.rows[0]["seconds"], 1e-9
        )
        metrics = {k.removeprefix(METRIC): v for k, v in row.items() if k.startswith(METRIC)}
        episode = (
            f"return {row['episode_return']:7.1f}, {row['episode_length']:4.0f} steps long"
            if math.isfinite(row["episode_return"])
            else "no whole episode yet"
        )
        return (
            f"{row['seconds']:5.1f} s: {episode}{foremost(metrics)}; iteration {row['number']}, "
            f"{row['steps'] / 1000:.0f} k env steps, {rate / 1000:.1f} k/s{self._left(row)}"
        )

    def show(self):
        self._shown = time.perf_counter()
        if not self.rows:
            return
        if not self.live:
            print(self.line(), file=self.stream, flush=True)
            return
        lines = ["mean return of the last 100 episodes (while exploring)"]
        lines += braille_plot([(r["seconds"], r["episode_return"]) for r in self.rows])
        lines += [f"{'':8} └" + "─" * COLUMNS, self.line()]
        up = f"\x1b[{self._height}F" if self._height else ""
        width = shutil.get_terminal_size().columns - 1
        text = "".join(f"\x1b[2K{line[:width]}\n" for line in lines)
        self.stream.write(up + text)
        self.stream.flush()
        self._height = len(lines)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.show()
        if self._file is not None:
            self._file.close()


def _columns(path) -> list[str]:
    """The columns of the file; an empty list where there is no file or nothing in it."""
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return next(csv.reader(file), [])


def begin_anew(path):
    """Empties the file of an earlier run."""
    if path.exists():
        os.truncate(path, 0)


def _cut(path, done):
    """Leaves out the rows after iteration `done`, which have no checkpoint."""
    with open(path, newline="") as file:
        header, *rows = list(csv.reader(file)) or [[]]
    number = header.index("number") if "number" in header else 0
    kept = [r for r in rows if len(r) == len(header) and int(r[number]) <= done]
    if len(kept) < len(rows):
        lines = "".join(",".join(row) + "\r\n" for row in (header, *kept))
        write_atomically(path, lambda file: file.write(lines.encode()))


def read_rows(path) -> list[dict]:
    """The rows of the CSV file as numbers; a last line that was cut short is left out."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        {k: float(v) for k, v in r.items()} for r in rows if None not in r.values() and None not in r
    ]


def write_picture(rows, title, path):
    """PNG: return and length of episodes over environment steps."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 1, figsize=(8, 5.5), sharex=True, layout="constrained")
    steps = [r["steps"] / 1e6 for r in rows]
    axes[0].plot(steps, [r["episode_return"] for r in rows])
    axes[0].set_ylabel("return while exploring")
    axes[0].set_title(title)
    axes[1].plot(steps, [r["episode_length"] for r in rows], color="C1")
    axes[1].set_ylabel("steps of an episode")
    axes[1].set_xlabel("environment steps, millions")
    for ax in axes:
        ax.grid(alpha=0.3)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
