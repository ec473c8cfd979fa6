"""A report as one page that needs nothing else: no network, no script; in light and dark, on a telephone and on paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.util import find_spec
from itertools import count

from .blocks import Block, Cell, Document, Items, Pictures, Section, Table, Warnings, cell
from .svg import inline

_STYLE = """
:root { color-scheme: light dark; --ground: #ffffff; --raised: #f4f6f8; --ink: #24292f; --soft: #57606a; --faint: #8c959f;
  --rule: #d0d7de; --alarm: #9a3412; --alarm-ground: #fff4ec;
  --series0: #1f66b5; --series1: #c2510c; --series2: #1d7f56; --series3: #8548a8; --series4: #a3720a; --series5: #b8335f; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181d; --raised: #1d232a; --ink: #dfe4ea; --soft: #a2acb8;
  --faint: #717b87; --rule: #343c46; --alarm: #ffb383; --alarm-ground: #33221a;
  --series0: #6eaef5; --series1: #f0965a; --series2: #5cc497; --series3: #c595e6; --series4: #dcb04b; --series5: #f083a8; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.35rem; margin: 3rem 0 .75rem; padding-top: .75rem; border-top: 2px solid var(--rule);
  overflow-wrap: anywhere; }
h3 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p, li { max-width: 46rem; overflow-wrap: anywhere; }
ul { padding-left: 1.2rem; } li { margin: .2rem 0; }
nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .4rem; }
nav a { display: block; padding: .3rem .7rem; border: 1px solid var(--rule); border-radius: 1rem; text-decoration: none; }
a { color: var(--series0); }
.warnings { border-left: 4px solid var(--alarm); background: var(--alarm-ground); padding: .5rem 1rem; margin: 1rem 0; }
.warnings p { margin: .4rem 0; }
.table { overflow-x: auto; margin: 1rem 0 .25rem; border: 1px solid var(--rule); border-radius: .4rem; }
table { border-collapse: collapse; font-size: .85rem; line-height: 1.4; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; font-size: .95rem; padding: .6rem .75rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem; border-top: 1px solid var(--rule); min-width: 6.5rem; }
thead th { background: var(--raised); white-space: nowrap; }
tbody th { font-weight: 600; min-width: 14rem; max-width: 22rem; position: sticky; left: 0; background: var(--ground); }
caption span { position: sticky; left: .75rem; }
@media (max-width: 40rem) { tbody th { min-width: 8.5rem; } th, td { padding: .4rem .5rem; } }
td.long { min-width: 15rem; }
td { max-width: 26rem; overflow-wrap: break-word; }
small { display: block; color: var(--soft); font-weight: 400; font-size: .92em; }
.notes { font-size: .85rem; color: var(--soft); margin: .25rem 0 1rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); gap: 1rem; margin: 1rem 0; }
figure { margin: 0; padding: .75rem; background: var(--raised); border-radius: .4rem; max-width: 34rem; }
figure strong { font-size: .95rem; }
figcaption { font-size: .8rem; color: var(--soft); line-height: 1.4; }
svg { display: block; width: 100%; height: auto; }
svg * { stroke-linejoin: round; }
details { margin: 1rem 0; } summary { cursor: pointer; font-weight: 600; }
@media print { .table { overflow: visible; } details::details-content { content-visibility: visible; } }
"""

_LONG = 60  # letters of a cell, from which on it is not made narrow


def text(document: Document) -> str:
    """The whole file."""
    pictures = count()
    body = "".join(_section(s, 2, pictures, f' id="part{i}"') for i, s in enumerate(document.sections))
    links = "".join(f'<li><a href="#part{i}">{escape(s.title)}</a></li>' for i, s in enumerate(document.sections))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(document.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(document.title)}</h1>\n<p>{escape(document.lead)}</p>\n<nav><ul>{links}</ul></nav>\n"
        f"{body}</main>\n</body>\n</html>\n"
    )


def _section(section: Section, level: int, pictures: count[int], named: str = "") -> str:
    inside = "".join(piece for block in section.blocks for piece in _block(block, pictures))
    inside += "".join(_section(inner, level + 1, pictures) for inner in section.inner)
    if section.folded:
        return f"<details><summary>{escape(section.title)}</summary>\n{inside}</details>\n"
    return f"<section{named}>\n<h{level}>{escape(section.title)}</h{level}>\n{inside}</section>\n"


def _block(block: Block, pictures: count[int]) -> Iterator[str]:
    if isinstance(block, str):
        yield f"<p>{escape(block)}</p>\n"
    elif isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, Items):
        yield _items(block.texts)
    elif isinstance(block, Warnings):
        yield '<div class="warnings" role="note">' + "".join(f"<p>{escape(each)}</p>" for each in block.texts) + "</div>\n"
    elif isinstance(block, Pictures):
        yield '<div class="plots">\n'
        for picture in block.pictures:
            drawn = "<p>Not drawn: matplotlib is not installed.</p>"
            if find_spec("matplotlib"):
                drawn = inline(picture.plot, f"plot{next(pictures)}", f"{picture.title}. {picture.about}")
            yield f"<figure>\n<strong>{escape(picture.title)}</strong>\n{drawn}\n"
            yield f"<figcaption>{escape(picture.about)}</figcaption>\n</figure>\n"
        yield "</div>\n"


def _table(table: Table) -> Iterator[str]:
    yield f'<div class="table" tabindex="0"><table>\n<caption><span>{escape(table.title)}</span></caption>\n<thead><tr>'
    yield "".join(f'<th scope="col">{escape(name)}</th>' for name in table.head)
    yield "</tr></thead>\n<tbody>\n"
    for first, *rest in table.rows:
        yield f'<tr><th scope="row">{_cell(cell(first))}</th>{"".join(map(_data, rest))}</tr>\n'
    yield "</tbody></table></div>\n"
    if table.notes:
        yield f'<div class="notes">{_items(table.notes)}</div>\n'


def _items(texts: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(each)}</li>" for each in texts) + "</ul>\n"


def _data(value: str | Cell) -> str:
    long = ' class="long"' if len(cell(value).text) > _LONG else ""
    return f"<td{long}>{_cell(cell(value))}</td>"


def _cell(value: Cell) -> str:
    text = escape(value.text).replace(" %", "&nbsp;%")
    return text + (f"<small>{escape(value.small)}</small>" if value.small else "")
