"""out/lab/index.html: a page per experiment, and the papers' tables filled from what was measured."""

import html
import time
import traceback
from pathlib import Path

from . import tables
from .experiments import experiments
from .html_text import INDEX, PAGE, gate_table, row_table

from stiction.files import replacing


def write(path, text):
    with replacing(path) as part:
        Path(part).write_text(text, encoding="utf-8")


def write_page(out, experiment, result, seconds):
    """The page of one experiment and its figures."""
    import matplotlib.pyplot as plt

    pictures = []
    for k, (figure, caption) in enumerate(result.figures):
        name = f"{experiment.name}-{k}.png"
        with replacing(out / name) as part:
            figure.savefig(part, dpi=110, format="png")
        plt.close(figure)
        pictures.append(f'<figure><img src="{name}" alt=""><figcaption>{html.escape(caption)}</figcaption></figure>')
    write(out / f"{experiment.name}.html", PAGE.format(
        title=html.escape(experiment.title), source=html.escape(experiment.source),
        sentence=html.escape(result.sentence), figures="".join(pictures), rows=row_table(result.rows),
        gates=gate_table(result.gates), seconds=f"{seconds:.1f}", name=experiment.name))


def write_index(out, done, extra, full, seconds):
    lines = []
    for experiment, result, took in done.values():
        state = "all gates hold" if result.ok else "a gate fails"
        lines.append(f'<tr><td><a href="{experiment.name}.html">{html.escape(experiment.title)}</a></td>'
                     f'<td>{html.escape(result.sentence)}</td><td class="{"ok" if result.ok else "bad"}">{state}</td>'
                     f"<td>{took:.1f} s</td></tr>")
    write(out / "index.html", INDEX.format(rows="".join(lines), tables=extra, kind="all sweeps" if full else
                                           "reduced sweeps", seconds=f"{seconds:.0f}"))


def run_all(out, full, say, names=None):
    """Runs the experiments one by one; every page is whole as soon as it is written. True if all gates hold."""
    out.mkdir(parents=True, exist_ok=True)
    begin, done, ok = time.perf_counter(), {}, True
    for name, experiment in experiments().items():
        if names and name not in names:
            continue
        start = time.perf_counter()
        try:
            result = experiment.run(full)
        except Exception:
            say(f"  {name:16s} broken\n{traceback.format_exc()}")
            ok = False
            continue
        took = time.perf_counter() - start
        done[name] = (experiment, result, took)
        write_page(out, experiment, result, took)
        write_index(out, done, "", full, time.perf_counter() - begin)
        say(f"  {name:16s} {'ok  ' if result.ok else 'FAIL'} {took:6.1f} s")
        for g in result.gates:
            if not g.ok:
                say(f"    {g.name}: {g.value:.6g}, must be in [{g.low:.6g}, {g.high:.6g}]")
        ok &= result.ok
    if not names:
        start = time.perf_counter()
        measured = tables.measure({n: r for n, (_, r, _) in done.items()})
        say(f"  {'tables':16s} ok   {time.perf_counter() - start:6.1f} s")
        write_index(out, done, tables.as_html(measured), full, time.perf_counter() - begin)
        write(out / "tables.md", tables.as_markdown(measured))
    say(f"{out / 'index.html'}: {len(done)} experiments in {time.perf_counter() - begin:.0f} s")
    return ok
