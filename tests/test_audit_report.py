"""The report: what has to stand beside a figure does, as Markdown and on the page, and the page needs nothing else."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from audits import KNOWS, attack, audit, audits
from velavox.bench.audit import document, markdown, page, result
from velavox.bench.audit.blocks import Block, Cell, Document, Items, Picture, Pictures, Section, Table, Warnings
from velavox.bench.audit.document import Results, load, write, written
from velavox.bench.audit.mechanism import MechanismAudit
from velavox.bench.audit.result import Audit
from velavox.bench.audit.tradeoff import Point, Proof
from velavox.bench.bootstrap import Figure

VOID = {"meta", "br", "path", "use", "rect", "circle", "image"}


def mechanism(claim: float = 1.0) -> MechanismAudit:
    share = Figure(0.3, 0.29, 0.31)
    proofs = (Proof("best", share, Figure(0.7, 0.69, 0.71), 0.95), Proof("FPR 0.01", Figure(0.01, 0.009, 0.011), share, 0.8))
    curve = tuple(Point(Figure(f / 10, f / 11, f / 9), Figure(1 - f / 10, 0.9 - f / 11, 1.1 - f / 10)) for f in range(1, 9))
    return MechanismAudit(
        1.0, "sound", claim, 2.0, 16, 2.0, 5000, 1e-3, proofs, curve, ("It is blind to timing.",), {"opendp": "1"}
    )


@dataclass
class Parsed(HTMLParser):
    """Tags, attributes and words of a page; AssertionError where tags do not close."""

    open: list[str] = field(default_factory=list)
    tags: Counter[str] = field(default_factory=Counter)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID or not (self.get_starttag_text() or "").endswith("/>"):
            self.open += [tag] * (tag not in {"meta", "br"})

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)


def parsed(text: str) -> Parsed:
    found = Parsed()
    found.feed(text)
    found.close()
    assert found.open == []
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    write(folder, audits(), [mechanism(), mechanism(claim=0.5)])
    return folder


@pytest.fixture(scope="module")
def text(folder: Path) -> str:
    return (folder / "report.md").read_text()


@pytest.fixture(scope="module")
def html(folder: Path) -> str:
    return (folder / "report.html").read_text()


def test_the_page_needs_no_network_and_no_script(html: str) -> None:
    found = parsed(html)
    assert not found.tags.keys() & {"script", "link", "img", "iframe", "object", "base"}
    for tag, name, value in found.attributes:
        assert not name.startswith("on")
        if name in {"href", "src", "xlink:href"}:
            assert value.startswith("#"), (tag, value)
    outside = set(re.findall(r"(?:https?:)?//[\w.]+[^\"'\s)]*", html))
    assert outside == {"http://www.w3.org/1999/xlink"}  # a name, never fetched


def test_links_and_ids_of_the_page_lead_somewhere_and_are_unique(html: str) -> None:
    found = parsed(html)
    ids = [value for _, name, value in found.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    wanted = set(re.findall(r"url\(#([^)]+)\)", html)) | {v[1:] for _, n, v in found.attributes if n in {"href", "xlink:href"}}
    assert wanted <= set(ids)
    assert len(wanted) > 50


def test_every_plot_is_described_and_takes_the_colours_of_the_page(html: str) -> None:
    found = parsed(html)
    labels = [value for tag, name, value in found.attributes if (tag, name) == ("svg", "aria-label")]
    assert len(labels) == found.tags["svg"] == found.tags["figcaption"] == found.tags["figure"]
    assert all(len(label) > 60 for label in labels)
    used = set(re.findall(r"var\((--[\w-]+)\)", html))
    light, dark = re.findall(r":root \{([^}]*)\}", html)
    for scheme in (light, dark):
        assert used <= set(re.findall(r"(--[\w-]+):", scheme))
    drawn = "".join(re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL))
    assert not re.findall(r"(?:fill|stroke): #", drawn)


def test_it_has_all_the_plots(html: str) -> None:
    titles = re.findall(r"<strong>(.*?)</strong>", html)
    for wanted in (
        *("Privacy against words", "Accuracy: gender, relaxed", "ROC: mcadams, relaxed", "DET: mcadams, relaxed"),
        *("Enrolment: mcadams, relaxed", "ROC: mcadams, strict", "Trade-off: misses over false alarms"),
    ):
        assert wanted in titles


def test_no_error_rate_stands_without_its_attacker_and_what_he_knows(text: str) -> None:
    """In the table of all methods by attacker it is the column that names him."""
    tables = [table.splitlines() for table in text.split("\n\n") if table.startswith("| ")]
    rows = [row for head, _, *rows in tables if "EER" in head.split(" | ") for row in rows]
    assert len(rows) > 20
    for row in rows:
        assert any(
            f"| {name}<br><sub>{knows}</sub> |" in row for name, knows in (*KNOWS.items(), ("cosine", "knows the classes"))
        )
    (overview,) = (rows for head, _, *rows in tables if "EER of the strongest attacker" in head)
    for row in overview:
        assert re.search(r"<sub>(ignorant|semi-informed): ge2e, \d+ enrolments?, \w+</sub> \|$", row)


def test_knowledge_scope_counts_seeds_and_versions_are_there(text: str, html: str) -> None:
    words = " ".join(" ".join(parsed(html).words).split())
    for shown in (text, words):
        for wanted in (
            *KNOWS.values(),
            "Scope of its bound: mu 1, calibration sound. The bound speaks of the speaker embedding alone.",
            "its bound is of the speaker embedding alone",
            "trials under 2 s: 3",
            "1 recording is silent, and left out",
            "velavox audit speech --method mcadams",
            "It is blind to timing.",
            "864 (72 true)",
            "enrolled in other channels",
        ):
            assert wanted in shown, wanted


def test_what_the_trials_cannot_resolve_is_said_and_why(text: str) -> None:
    assert "0.01 %: 792 false claims, none accepted, show an FPR of at most 0.004: 0.0001 needs 29,956" in text
    line = next(line for line in text.splitlines() if line.startswith("| semi-informed") and "not resolved" in line)
    assert "not resolved: 0.00 or more" not in text
    assert not re.search(r"\b(nan|inf)\b", line)


def test_nothing_is_infinite_or_not_a_number(text: str, html: str) -> None:
    words = " ".join(parsed(html).words)
    for shown in (text, words):
        assert not re.search(r"\b(nan|inf|infinity)\b", shown, flags=re.IGNORECASE)


def test_a_breach_of_the_claim_is_a_warning(html: str, text: str) -> None:
    assert '<div class="warnings" role="note"><p>It is not mu 0.5: the real mu is 0.950 or more' in html
    assert "> **It is not mu 0.5: the real mu is 0.950 or more" in text
    assert "Nothing speaks against mu 1: the real mu is 0.950 or more" in text


def test_doubtful_figures_are_marked_and_the_reader_is_warned_first() -> None:
    weak = replace(audits()[0], attacks=(attack("ignorant", 1.0),), utility={"wer": Figure(0.6)})
    text = markdown.text(written(Results((weak, audits()[1]))))
    warnings = text.index("> **Marked (?): speakers are hardly told apart by their own voices")
    assert warnings < text.index("**Methods**")
    row = next(line for line in text.splitlines() if line.startswith("| mcadams |"))
    assert row.count("(?)") == 2  # WER and EER
    assert "- (?): speakers are hardly told apart" in text


def test_speakers_that_a_method_may_have_been_trained_on_are_labelled_first() -> None:
    unheard, heard = (replace(a, made={"split": split}) for a, split in zip(audits(), ("all but train", "train"), strict=False))
    label = f"Speakers of the split train: what was trained may have been trained on them ({heard.condition})."
    section = written(Results((unheard, heard))).sections[0]
    assert isinstance(section.blocks[0], Warnings)
    assert section.blocks[0].texts[0] == label
    assert label not in markdown.text(written(Results((unheard,))))


def test_the_report_itself_can_be_reported(folder: Path, tmp_path: Path) -> None:
    found = load([folder / "report.json"])
    assert [a.condition for a in found.audits] == [a.condition for a in audits()]
    assert found.mechanisms == (mechanism(), mechanism(claim=0.5))
    write(tmp_path, found.audits, found.mechanisms)
    for name in document.NAMES:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_the_json_has_every_figure_and_the_curves_that_are_drawn(folder: Path) -> None:
    value = json.loads((folder / "report.json").read_text())
    attacks = value["audits"][1]["attacks"]
    assert len(attacks) == len(audits()[1].attacks)
    assert all(a["summary"]["eer"]["low"] is not None for a in attacks)
    assert Counter(bool(a["summary"]["roc"]) for a in attacks)[True] == 3  # two attackers, and one of the strict form


def test_results_of_both_kinds_are_read(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps(mechanism().as_json()))
    result.write(tmp_path / "r.json", [audits()[0]])
    found = load([tmp_path / "r.json", tmp_path / "m.json"])
    assert (len(found.audits), found.mechanisms) == (1, (mechanism(),))
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ValueError, match=rf"^{re.escape(str(tmp_path / 'x.json'))}: is no result of an audit"):
        load([tmp_path / "x.json"])


def test_little_is_enough_for_a_report() -> None:
    bare = Audit("folder", float("nan"), "", ())
    one = replace(bare, attacks=(attack("ignorant", 1.0),))
    for audited in (bare, one, audit("original", 3, 3, 3, 0.1)):
        found = written(Results((audited,)))
        assert parsed(page.text(found)).tags["h2"] >= 3
        assert markdown.text(found)
    assert len(written(Results((), (mechanism(),))).sections) == 2


NASTY = 'a <b> & |c| "d" *e* `f` [g](h)\nsecond # line'


def test_words_of_others_are_words_not_markup() -> None:
    def plot(axes: object) -> None:
        pass

    blocks: list[Block] = [
        NASTY,
        Items([NASTY]),
        Warnings([NASTY]),
        Table(NASTY, [NASTY, "x"], [[Cell(NASTY, NASTY), "y"]], [NASTY]),
    ]
    inner = Section(NASTY, [Pictures([Picture(NASTY, plot, NASTY)])])
    made = Document(NASTY, NASTY, [Section(NASTY, blocks, [inner])])
    found = parsed(page.text(made))
    assert found.tags["b"] == 0
    assert sum(NASTY in words for words in found.words) == 16  # thrice at the top, and wherever else it was put
    assert sum(NASTY in value for _, name, value in found.attributes if name == "aria-label") == 1
    text = markdown.text(made)
    assert "<b>" not in text.replace(r"\<b\>", "")
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in table] == [3, 3, 3]


def test_without_matplotlib_the_page_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(page, "find_spec", lambda name: None)
    write(tmp_path, audits()[:1])
    text = (tmp_path / "report.html").read_text()
    assert "Not drawn: matplotlib is not installed." in text
    assert "<svg" not in text
