"""The documentation site: docs/*.md and the API from docstrings, by Sphinx. `./dev docs` builds it, warnings are errors.

The pages are read as they are in the repository, where their links work, too. Links to files that are no pages become
the names of the files.
"""

import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import directives  # noqa: E402

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent

project = "stiction"
author = "the stiction authors"
version = release = re.search(r"project\(stiction VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "sphinx_copybutton"]
root_doc = "index"
exclude_patterns = ["site/requirements.txt"]
source_suffix = {".md": "markdown"}

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
# a page may begin with the block that it shows
suppress_warnings = ["myst.header"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "undoc-members": True}
add_module_names = False

html_theme = "furo"
html_title = f"stiction {version}"
html_theme_options = {"navigation_with_keys": True}
html_copy_source = False
pygments_style = "friendly"
# the numbers of the sources are prompts nowhere
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True

# files outside of docs/ that the site shows as pages, whose own text says only which file it is
PAGES = {"site/changelog": "CHANGELOG.md", "site/contributing": "CONTRIBUTING.md"}
PICTURES = (".png", ".webp", ".svg", ".gif")


def _target(page: Path, written_in: Path, link: str) -> str | None:
    """What a link becomes on a page: a link to another page or picture, or None for a file that is neither."""
    path, hash_, anchor = link.partition("#")
    file = (written_in.parent / path).resolve()
    shown = next((DOCS / f"{name}.md" for name, text in PAGES.items() if ROOT / text == file), file)
    if not shown.is_relative_to(DOCS) or not shown.is_file() or shown.suffix not in (".md", *PICTURES):
        return None
    return os.path.relpath(shown, page.parent) + hash_ + anchor


def _links_of_repository(app, document, content):
    """Before MyST reads a page: links lead to pages, and those to other files become their text and the file's name."""
    page = written_in = Path(app.env.doc2path(document))
    if document in PAGES:
        written_in = ROOT / PAGES[document]
        app.env.note_dependency(str(written_in))
        content[0] = written_in.read_text()

    def replace(found):
        text, link = found[1], found[2]
        if re.match(r"[a-z]+:|#|<", link):
            return found[0]
        target = _target(page, written_in, link)
        if target is not None:
            return f"[{text}]({target})"
        name = link.partition("#")[0].removeprefix("../")
        return text if text.strip("`") == name else f"{text} (`{name}`)"

    content[0] = re.sub(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^)\s]+)\)", replace, content[0])


def _escaped(line: str) -> str:
    """Plain text as reStructuredText, `code` as code."""
    parts = re.split(r"`([^`]+)`", line)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"([\\*|]|(?<=\w)_(?!\w))", r"\\\1", parts[k])
    text = "".join(f"``{part}``" if k % 2 else part for k, part in enumerate(parts))
    # code is set off from the letters around it: `xquat`s
    return re.sub(r"(``[^`]+``)(?=\w)", r"\1\\ ", text)


def _plain_docstring(app, what, name, obj, options, lines):
    """Docstrings are plain text: paragraphs are paragraphs, and where lines are indented they stay as they are."""
    found = []
    for block in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        rows = block.split("\n")
        if any(row[:1] == " " for row in rows):
            found += ["::", "", *("  " + row for row in rows), ""]
        else:
            found += [*map(_escaped, rows), ""]
    lines[:] = found


def _llms(app, error):
    """llms.txt: the pages with their titles and the address of each, for readers that are programs."""
    if error or app.builder.format != "html":
        return
    lines = ["# stiction", "", "> A simulator of robots in contact, for robot learning, on CPUs and NVIDIA cards.", "", "## Pages", ""]
    for page in sorted(app.env.found_docs):
        title = app.env.titles[page].astext()
        lines.append(f"- [{title}]({page}.html)")
    (Path(app.outdir) / "llms.txt").write_text("\n".join(lines) + "\n")


def setup(app):
    app.connect("source-read", _links_of_repository)
    app.connect("autodoc-process-docstring", _plain_docstring)
    app.connect("build-finished", _llms)
    for name, directive in directives.ALL.items():
        app.add_directive(name, directive)
    return {"parallel_read_safe": True}
