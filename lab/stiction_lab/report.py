"""out/lab/index.html: a page per experiment, and the papers' tables filled from what was measured; the same as text in
results.md, its gates in gates.csv. Times are those of the processor, which other programs do not change."""

import html
import time
import traceback
from pathlib import Path

from . import record, tables
from .experiments import experiments
from .html_text import INDEX, PAGE, bounds, gate_table, row_table

from stiction._util.machine import cpu_name
from stiction._util.files import replacing


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


def write_index(out, done, extra, full):
    lines, seconds = [], sum(took for *_, took in done.values())
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


def heading(done, total, full, broken):
    """What ran, how long, where, and whether the gates held."""
    gates = [g for _, result, _ in done.values() for g in result.gates]
    held = sum(g.ok for g in gates)
    command = "stiction lab report" + (" --full" if full else "")
    lines = [f"# Results of the laboratory, {'all' if full else 'reduced'} sweeps", "",
             f"From `{command}`: {len(done)} of {total} experiments, {'all ' if held == len(gates) else f'{held} of '}{len(gates)} "
             f"gates hold, {sum(took for *_, took in done.values()):.0f} s of one core of {cpu_name()}."]
    return "\n".join(lines + [f"`{name}` is broken: {why}" for name, why in broken.items()]) + "\n\n"


def run_all(out, full, say, names=None, resume=False):
    """Runs the experiments one by one; every page is whole as soon as it is written, and the report is whole after every
    experiment. resume: takes from `out` what the same program left there. True if all gates hold."""
    out.mkdir(parents=True, exist_ok=True)
    begin, done, broken = time.process_time(), {}, {}
    chosen = {n: e for n, e in experiments().items() if not names or n in names}
    for name, experiment in chosen.items():
        start = time.process_time()
        kept = record.load(out, name, full) if resume else None
        if kept:
            result, took = kept
        else:
            try:
                result = experiment.run(full)
            except Exception as e:
                say(f"  {name:17s} broken\n{traceback.format_exc()}")
                broken[name] = f"{type(e).__name__}: {e}"
                continue
            took = time.process_time() - start
            write_page(out, experiment, result, took)
            record.save(out, name, result, took, full)
        done[name] = (experiment, result, took)
        write(out / f"{name}.md", as_text(*done[name]))
        if not names:
            write_report(out, done, [], full, len(chosen), broken)
        say(f"  {name:17s} {'ok  ' if result.ok else 'FAIL'} {took:6.1f} s{', kept' if kept else ''}")
        for g in result.gates:
            if not g.ok:
                say(f"    {g.name}: {g.value:.6g}, must be in [{g.low:.6g}, {g.high:.6g}]")
    if names:
        write_index(out, done, "", full)
    else:
        start = time.process_time()
        measured = tables.measure({n: r for n, (_, r, _) in done.items()})
        say(f"  {'tables':17s} ok   {time.process_time() - start:6.1f} s")
        write_report(out, done, measured, full, len(chosen), broken)
    say(f"{out / 'index.html'}: {len(done)} experiments in {time.process_time() - begin:.0f} s")
    return not broken and all(result.ok for _, result, _ in done.values())


def write_report(out, done, measured, full, total, broken):
    write_index(out, done, tables.as_html(measured), full)
    write(out / "results.md", heading(done, total, full, broken) + "".join(as_text(*d) for d in done.values()) +
          tables.as_markdown(measured))
    record.write_gates(out, done)
