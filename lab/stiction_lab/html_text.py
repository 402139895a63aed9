"""Templates of the report."""

import html

STYLE = """<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;margin:1rem 0;font-size:14px}td,th{border-bottom:1px solid #ddd;padding:.3rem .6rem;
text-align:left;vertical-align:top}img{max-width:100%}figure{margin:1rem 0}figcaption{color:#555;font-size:13px}
.ok{color:#0b6e4f}.bad{color:#b00020;font-weight:600}.lead{font-size:17px}
</style>"""

PAGE = ('<!doctype html><meta charset="utf-8"><title>{title}</title>' + STYLE.replace("{", "{{").replace("}", "}}") +
        '<p><a href="index.html">All experiments</a></p><h1>{title}</h1><p>Paper {source}; '
        '<code>stiction lab run {name}</code>, {seconds} s.</p><p class="lead">{sentence}</p>{figures}'
        "<h2>Ours and theirs</h2>{rows}<h2>Gates</h2>{gates}")
INDEX = ('<!doctype html><meta charset="utf-8"><title>Contact laboratory</title>' +
         STYLE.replace("{", "{{").replace("}", "}}") +
         "<h1>Contact laboratory</h1><p>{kind}, {seconds} s.</p><table>{rows}</table>{tables}")


def cell(text):
    return f"<td>{html.escape(str(text))}</td>"


def table(header, rows):
    head = "".join(f"<th>{html.escape(h)}</th>" for h in header)
    body = "".join("<tr>" + "".join(cell(c) for c in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def row_table(rows):
    return table(("quantity", "ours", "paper, closed form or bench"), [(r.quantity, r.ours, r.theirs) for r in rows])


def bounds(g):
    low, high = f"{g.low:.6g}", f"{g.high:.6g}"
    if low == "-inf":
        return f"at most {high}"
    return f"at least {low}" if high == "inf" else f"{low} to {high}"


def gate_table(gates):
    return table(("gate", "value", "must be", "", ""),
                 [(g.name, f"{g.value:.6g}", bounds(g), "negative control" if g.control else "",
                   "holds" if g.ok else "FAILS") for g in gates])
