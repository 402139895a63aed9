"""out/lab/index.html: a page per experiment, and the papers' tables filled from what was measured; the same as text in
results.md. Times are those of the processor, which other programs do not change."""

import html
import time
import traceback
from pathlib import Path

from . import tables
from .experiments import experiments
from .html_text import INDEX, PAGE, bounds, gate_table, row_table

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


def as_text(experiment, result, seconds):
    """An experiment of results.md."""
    held = sum(g.ok for g in result.gates)
    broken = "".join(f"- FAILS: {g.name} = {g.value:.6g}, must be {bounds(g)}\n" for g in result.gates if not g.ok)
    rows = "".join(f"| {' | '.join(x.replace('|', chr(92) + '|') for x in (r.quantity, r.ours, r.theirs))} |\n"
                   for r in result.rows)
    table = f"\n| quantity | ours | paper, closed form or bench |\n|---|---|---|\n{rows}" if rows else ""
    return (f"## {experiment.title} (`{experiment.name}`)\n\n{result.sentence}\n\n{held} of {len(result.gates)} gates hold; "
            f"{seconds:.0f} s.\n{broken}{table}\n")


def run_all(out, full, say, names=None):
    """Runs the experiments one by one; every page is whole as soon as it is written. True if all gates hold."""
    out.mkdir(parents=True, exist_ok=True)
    begin, done, ok = time.process_time(), {}, True
    for name, experiment in experiments().items():
        if names and name not in names:
            continue
        start = time.process_time()
        try:
            result = experiment.run(full)
        except Exception:
            say(f"  {name:16s} broken\n{traceback.format_exc()}")
            ok = False
            continue
        took = time.process_time() - start
        done[name] = (experiment, result, took)
        write_page(out, experiment, result, took)
        write_index(out, done, "", full, time.process_time() - begin)
        write(out / f"{name}.md", as_text(*done[name]))
        say(f"  {name:16s} {'ok  ' if result.ok else 'FAIL'} {took:6.1f} s")
        for g in result.gates:
            if not g.ok:
                say(f"    {g.name}: {g.value:.6g}, must be in [{g.low:.6g}, {g.high:.6g}]")
        ok &= result.ok
    if not names:
        start = time.process_time()
        measured = tables.measure({n: r for n, (_, r, _) in done.items()})
        say(f"  {'tables':16s} ok   {time.process_time() - start:6.1f} s")
        write_index(out, done, tables.as_html(measured), full, time.process_time() - begin)
        write(out / "results.md", "# Results of the laboratory, " + ("all sweeps" if full else "reduced sweeps") + "\n\n" +
              "".join(as_text(*d) for d in done.values()) + tables.as_markdown(measured))
    say(f"{out / 'index.html'}: {len(done)} experiments in {time.process_time() - begin:.0f} s")
    return ok
