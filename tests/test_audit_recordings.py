"""Who is audited, as tables, folders and Kaldi tell: what can be used is, and all else is named."""

from pathlib import Path

import pytest
from velavox.bench.audit.findings import Findings
from velavox.bench.audit.kaldi import COMMAND, NO_RECORDING, from_kaldi
from velavox.bench.audit.recordings import (
    NEITHER,
    NO_COUNTERPART,
    NO_FILE,
    NO_SPEAKER,
    OVERLAP,
    TWICE,
    age_group,
    counterparts,
    from_folders,
    from_table,
)

pytestmark = pytest.mark.nojit


def _touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")


def _table(folder: Path, text: str) -> Path:
    (folder / "list.csv").write_text(text, encoding="utf-8")
    return folder / "list.csv"


def test_a_table_says_all_that_it_knows(tmp_path: Path) -> None:
    _touch(tmp_path, "a/1.wav", "b/1.wav")
    columns = "path,speaker,utterance,source,channel,split,role,transcript,gender,accent,age,language\n"
    rows = (
        "a/1.wav,ann,a1,libri_dev,phone,Dev,enrol,Hello there,F,Scots,34,EN-gb\nb/1.wav,bob,b1,libri_train,,train,,你好,,,,\n"
    )
    listing = from_table(_table(tmp_path, columns + rows), tmp_path)
    ann, bob = listing.recordings
    assert (ann.speaker, ann.utterance, ann.channel, ann.split, ann.role) == ("libri:ann", "a1", "phone", "dev", "enrol")
    assert (ann.text, dict(ann.attributes)) == ("Hello there", {"gender": "F", "accent": "Scots", "age": "30 to 49"})
    assert (ann.language, bob.language) == ("en", "zh")
    assert (bob.speaker, bob.channel, dict(bob.attributes)) == ("libri:bob", "libri_train", {})
    assert not listing.findings.names


def test_names_are_of_places_among_the_originals_wherever_those_lie(tmp_path: Path) -> None:
    """Lots are drawn by names: an audit of the same speech is the same elsewhere."""
    for folder in (tmp_path / "here", tmp_path / "there"):
        _touch(folder, "a/1.wav")
        listing = from_table(_table(folder, f"path,speaker\n{folder / 'a/1.wav'},ann\n"), folder)
        assert [r.utterance for r in listing.recordings] == ["a/1"]


def test_rows_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    _touch(tmp_path, "a.wav", "b.wav")
    rows = "a.wav,ann,\nmissing.wav,ann,\nb.wav,unlabelled,\n,ann,\na.wav,ann,\nb.wav,bob,target\n"
    listing = from_table(_table(tmp_path, "path,speaker,role\n" + rows), tmp_path)
    assert [r.path.name for r in listing.recordings] == ["a.wav", "b.wav"]
    assert listing.findings.names == {
        NO_FILE: ["missing.wav (list.csv, line 3)"],
        NO_SPEAKER: ["b.wav", "list.csv, line 5"],
        NEITHER: ["b (target)"],
        TWICE: ["a"],
    }


def test_what_is_no_table_says_so(tmp_path: Path) -> None:
    for text, words in (("speaker,file\na,b\n", "columns path,speaker"), (None, "no such file")):
        table = _table(tmp_path, text) if text else tmp_path / "none.csv"
        with pytest.raises(ValueError, match=words):
            from_table(table, tmp_path)


def test_files_of_one_name_have_two(tmp_path: Path) -> None:
    _touch(tmp_path, "a/1.wav", "b/1.wav")
    listing = from_table(_table(tmp_path, "path,speaker,utterance\na/1.wav,a,1\nb/1.wav,b,1\n"), tmp_path)
    assert len({r.utterance for r in listing.recordings}) == 2


def test_folders_of_speakers(tmp_path: Path) -> None:
    _touch(tmp_path / "set", "ann/book/ann-1.flac", "bob/x.mp3", "bob/.hidden.wav", "loose.wav", "bob/notes.txt")
    (tmp_path / "set/ann/book/ann.trans.txt").write_text("ann-1 HELLO THERE\n")
    listing = from_folders(tmp_path / "set")
    assert [(r.speaker, r.utterance, r.text) for r in listing.recordings] == [
        ("set:ann", "ann/book/ann-1", "HELLO THERE"),
        ("set:bob", "bob/x", ""),
    ]
    assert listing.findings.names == {NO_SPEAKER: ["loose.wav"]}


def test_links_are_followed_but_not_for_ever(tmp_path: Path) -> None:
    _touch(tmp_path, "set/ann/1.wav", "elsewhere/2.wav")
    (tmp_path / "set/bob").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "set/cat").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "set/ann/up").symlink_to(tmp_path / "set")
    assert [r.utterance for r in from_folders(tmp_path / "set").recordings] == ["ann/1", "bob/2"]


def test_folders_of_vctk(tmp_path: Path) -> None:
    _touch(tmp_path / "vctk", "wav48/p225/p225_001.wav", "wav48/p226/p226_001.wav")
    assert [r.speaker for r in from_folders(tmp_path / "vctk").recordings] == ["vctk:p225", "vctk:p226"]


def test_counterparts_by_place_then_by_name(tmp_path: Path) -> None:
    _touch(tmp_path / "o", "ann/1.wav", "bob/1.wav", "bob/two.wav", "cat/three.wav", "dan/1.wav")
    _touch(tmp_path / "m", "ann/1.flac", "bob/1.FLAC", "all/two.ogg", "x/three.wav", "y/three.wav")
    listing = from_folders(tmp_path / "o")
    findings = Findings()
    found = counterparts(listing.recordings, tmp_path / "m", findings)
    assert {name: path.relative_to(tmp_path / "m").as_posix() for name, path in found.items()} == {
        "ann/1": "ann/1.flac",
        "bob/1": "bob/1.FLAC",
        "bob/two": "all/two.ogg",
    }
    assert findings.names == {NO_COUNTERPART: ["cat/three (2 of that name)", "dan/1"]}


def test_a_name_that_two_originals_have_is_nobodys_counterpart(tmp_path: Path) -> None:
    _touch(tmp_path / "o", "ann/1.wav", "bob/1.wav")
    _touch(tmp_path / "m", "bob/1.wav")
    findings = Findings()
    assert list(counterparts(from_folders(tmp_path / "o").recordings, tmp_path / "m", findings)) == ["bob/1"]
    assert findings.names == {NO_COUNTERPART: ["ann/1"]}


def test_a_table_names_the_counterpart(tmp_path: Path) -> None:
    _touch(tmp_path, "o/a.wav", "o/b.wav", "m/x.wav", "m/b.wav")
    table = _table(tmp_path, "path,speaker,anonymized\na.wav,a,x.wav\nb.wav,b,gone.wav\n")
    findings = Findings()
    found = counterparts(from_table(table, tmp_path / "o").recordings, tmp_path / "m", findings)
    assert found == {"a": tmp_path / "m/x.wav"}
    assert findings.names == {NO_COUNTERPART: ["b"]}


def test_ages_in_groups() -> None:
    assert [age_group(age) for age in ("19", "30", "49.5", "50", "120", "adult")] == [
        "under 30",
        "30 to 49",
        "30 to 49",
        "50 and over",
        "50 and over",
        "adult",
    ]


def _kaldi(folder: Path, **tables: str) -> Path:
    folder.mkdir()
    for name, text in tables.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def test_folders_of_the_voice_privacy_challenge(tmp_path: Path) -> None:
    _touch(tmp_path, "1.flac", "2.flac", "3.flac", "4.flac")
    enrols = _kaldi(
        tmp_path / "libri_dev_enrolls",
        wav__scp="s1-1 1.flac\ns2-2 flac -c -d -s 2.flac |\ns2-9 sox 2.flac -r 8000 - |\ns2-8 gone.flac\n",
        utt2spk="s1-1 s1\ns2-2 s2\ns2-9 s2\ns2-8 s2\n",
        enrolls="s1-1\ns2-2\ns2-7\n",
        spk2gender="s1 f\ns2 m\n",
        text="s1-1 hello\tthere\n",
    )
    trials = _kaldi(
        tmp_path / "libri_dev_trials",
        wav__scp="s1-3 3.flac\ns2-4 4.flac\n",
        utt2spk="s1-3 s1\ns2-4 s2\n",
        trials="s1 s1-3 target\ns2 s1-3 nontarget\ns1 s1-5 target\n",
    )
    listing = from_kaldi([enrols, trials], tmp_path)
    assert [(r.utterance, r.speaker, r.role) for r in listing.recordings] == [
        ("s1-1", "libri:s1", "enrol"),
        ("s2-2", "libri:s2", "enrol"),
        ("s1-3", "libri:s1", "trial"),
        ("s2-4", "libri:s2", "trial"),
    ]
    assert (listing.recordings[0].text, dict(listing.recordings[0].attributes)) == ("hello there", {"gender": "f"})
    assert listing.pairs is not None
    assert set(listing.pairs) == {("libri:s1", "s1-3"), ("libri:s2", "s1-3"), ("libri:s1", "s1-5")}
    assert listing.findings.names == {
        COMMAND: ["libri_dev_enrolls/s2-9 (sox 2.flac -r 8000 - |)"],
        NO_FILE: ["libri_dev_enrolls/s2-8 (gone.flac)"],
        NO_RECORDING: ["libri_dev_enrolls/s2-7", "libri_dev_trials/s1-5"],
    }


def test_kaldi_an_utterance_that_enrols_and_is_tried_is_tried(tmp_path: Path) -> None:
    _touch(tmp_path, "1.wav")
    tables = {"wav__scp": "a 1.wav\n", "utt2spk": "a s\n"}
    folders = [_kaldi(tmp_path / "x_enrols", **tables), _kaldi(tmp_path / "x_trials", **tables)]
    for order in (folders, folders[::-1]):
        listing = from_kaldi(order, tmp_path)
        assert [r.role for r in listing.recordings] == ["trial"]
        assert listing.findings.names == {OVERLAP: ["a"]}


def test_no_kaldi_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"wav\.scp"):
        from_kaldi([tmp_path], tmp_path)
    folder = _kaldi(tmp_path / "x", wav__scp="a 1.wav\n", utt2spk="a s\n", segments="a-1 a 0 1\n")
    with pytest.raises(ValueError, match="segments"):
        from_kaldi([folder], tmp_path)


def test_findings_are_counted_once_and_told_in_lines() -> None:
    findings = Findings()
    for name in ("a", "b", "c", "d", "a"):
        findings.add("no such file", name)
    assert findings.counts() == {"no such file": 4}
    assert list(findings.lines()) == ["no such file: 4: a, b, c and 1 more"]
