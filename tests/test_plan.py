"""What is read, what is written where, and what is passed over, on trees of empty files in a temporary folder."""

from __future__ import annotations

import os
import tarfile
import unicodedata
from pathlib import Path

import pytest
from velavox.engine.plan import Plan, PlanError, plan, refusals_told

pytestmark = pytest.mark.nojit
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt "


def grow(root: Path, *names: str, content: bytes = WAV) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def pairs(made: Plan, out: Path) -> dict[str, str]:
    return {job.name: job.target.relative_to(out).as_posix() for job in made.jobs}


def reasons(made: Plan) -> dict[str, str]:
    return {p.name: p.reason for p in made.skipped}


def test_mirrors_a_tree_in_the_order_of_names(tmp_path: Path) -> None:
    root = grow(tmp_path / "in", "b/deep/er/x.wav", "a.FLAC", "b/y.ogg", "c.mp3")
    made = plan([root], tmp_path / "out")
    assert list(pairs(made, tmp_path / "out").items()) == [(n, n) for n in ("a.FLAC", "b/deep/er/x.wav", "b/y.ogg", "c.mp3")]
    assert [job.speaker for job in made.jobs] == ["in", "b/deep/er", "b", "in"]
    assert not (tmp_path / "out").exists()


def test_awkward_names_of_the_fixtures(shared: Path, tmp_path: Path) -> None:
    with tarfile.open(shared / "fixtures/names.tar") as tar:
        tar.extractall(tmp_path, filter="data")
    made = plan([tmp_path / "names"], tmp_path / "out")
    kept = pairs(made, tmp_path / "out")
    assert all(source == target for source, target in kept.items())
    assert len(kept) == 11
    assert {"%d%s.wav", "-starts-with-dash.wav", "sub dir/ünï/deep.wav", "Ümlaut_日本語_🎤.wav", "noextension"} <= kept.keys()
    assert reasons(made) == {
        ".DS_Store": "hidden",
        ".hidden.wav": "hidden",
        "._resource.wav": "macOS resource fork",
        "dangling.wav": "link to nothing",
        "notes.txt": "not audio",
    }


def test_hidden_folder_is_named_once_but_a_hidden_input_is_taken(tmp_path: Path) -> None:
    root = grow(tmp_path / ".in", ".cache/a.wav", ".cache/b.wav", "c.wav")
    made = plan([root], tmp_path / "out")
    assert reasons(made) == {".cache": "hidden"}
    assert [job.name for job in plan([root / ".cache/a.wav"], tmp_path / "out").jobs] == ["a.wav"]


def test_what_is_named_is_tried_whatever_it_is(tmp_path: Path) -> None:
    root = grow(tmp_path, "notes.txt", content=b"hello")
    assert [job.name for job in plan([root / "notes.txt"], tmp_path / "out").jobs] == ["notes.txt"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_never_opens_a_named_pipe(tmp_path: Path) -> None:
    root = grow(tmp_path / "in", "a.wav")
    os.mkfifo(root / "pipe.wav")
    os.mkfifo(root / "pipe")
    assert reasons(plan([root], tmp_path / "out")) == {"pipe": "not a regular file", "pipe.wav": "not a regular file"}

    made = plan([root / "pipe"], tmp_path / "out")  # named, so it is a job: it fails where that is told
    assert [job.name for job in made.jobs] == ["pipe"]


def test_links_are_followed_and_loops_end(tmp_path: Path) -> None:
    root = grow(tmp_path / "in", "a/x.wav")
    grow(tmp_path / "elsewhere", "y.wav")
    (root / "a/up").symlink_to(root)
    (root / "self").symlink_to(root / "self")
    (root / "away").symlink_to(tmp_path / "elsewhere")
    made = plan([root], tmp_path / "out")
    assert [job.name for job in made.jobs] == ["a/x.wav", "away/y.wav"]
    assert reasons(made) == {"a/up": "link that loops", "self": "link that loops"}


@pytest.mark.parametrize("link", [False, True])
def test_output_inside_the_input_is_not_walked(tmp_path: Path, link: bool) -> None:
    root = grow(tmp_path / "in", "a.wav", "done/a.wav", "done/b.wav")
    if link:
        (tmp_path / "alias").symlink_to(root / "done")
    made = plan([root], tmp_path / "alias" if link else root / "done")
    assert [job.name for job in made.jobs] == ["a.wav"]
    assert reasons(made) == {"done": "output folder"}


def test_an_output_is_never_an_input(tmp_path: Path) -> None:
    root = grow(tmp_path / "in", "raw/x.wav", "raw/raw/x.wav")
    with pytest.raises(PlanError, match="output folder is the input folder"):
        plan([root], root)
    with pytest.raises(PlanError, match="recordings stay"):
        plan([root / "raw/x.wav"], root / "raw")
    with pytest.raises(PlanError, match="recordings stay"):
        plan([root / "raw/x.wav"], root / "raw/x.wav")
    with pytest.raises(PlanError, match=r"in/raw/x\.wav: is the recording x\.wav"):  # in/raw/raw/x.wav would go there
        plan([root / "raw"], root)
    out = tmp_path / "out"
    out.mkdir()
    (out / "x.wav").hardlink_to(root / "raw/x.wav")
    with pytest.raises(PlanError, match="recordings stay"):
        plan([root / "raw/x.wav"], out)


def test_same_stem_with_another_ending(tmp_path: Path) -> None:
    root = grow(tmp_path / "in", "a.wav", "a.m4a", "a.mp4", "a.flac", "b.m4a", "B.MP4")
    assert pairs(plan([root], tmp_path / "out"), tmp_path / "out") == {
        "a.wav": "a.wav",
        "a.m4a": "a.m4a.wav",
        "a.mp4": "a.mp4.wav",
        "a.flac": "a.flac",
        "B.MP4": "B.wav",
        "b.m4a": "b.m4a.wav",
    }


def test_names_that_some_file_systems_take_for_one(tmp_path: Path) -> None:
    nfc, nfd = (unicodedata.normalize(form, "ü.wav") for form in ("NFC", "NFD"))
    root = grow(tmp_path / "in", nfc, nfd, "A/x.wav", "a/x.wav", "c.wav", "C.wav", "c (2).wav")
    if len(list(root.iterdir())) < 7:
        pytest.skip("this file system takes them for one")
    targets = pairs(plan([root], tmp_path / "out"), tmp_path / "out")
    assert targets == {
        "A/x.wav": "A/x.wav",
        "a/x.wav": "a/x (2).wav",
        "C.wav": "C.wav",
        "c (2).wav": "c (2).wav",
        "c.wav": "c (3).wav",
        nfd: nfd,
        nfc: f"{nfc[:-4]} (2).wav",
    }


def test_a_file_does_not_take_the_name_of_a_folder(tmp_path: Path) -> None:
    root = grow(tmp_path / "in", "a.m4a", "a.wav/x.wav")
    assert pairs(plan([root], tmp_path / "out"), tmp_path / "out") == {"a.m4a": "a.m4a.wav", "a.wav/x.wav": "a.wav/x.wav"}


def test_several_inputs_keep_their_folders_apart(tmp_path: Path) -> None:
    grow(tmp_path, "one/mon/x.wav", "two/mon/x.wav", "y.wav", "two/y.wav")
    made = plan([tmp_path / "one/mon", tmp_path / "two/mon", tmp_path / "y.wav", tmp_path / "two/y.wav"], tmp_path / "out")
    names = ["mon/x.wav", "mon (2)/x.wav", "y.wav", "y (2).wav"]
    assert list(pairs(made, tmp_path / "out").items()) == [(n, n) for n in names]
    assert [job.speaker for job in made.jobs] == ["mon", "mon (2)", tmp_path.name, "two"]


def test_one_file_onto_a_file_or_into_a_folder(tmp_path: Path) -> None:
    root = grow(tmp_path, "a.wav", "b.m4a")
    (tmp_path / "old.wav").mkdir()
    for source, out, target in (
        ("a.wav", "new.wav", "new.wav"),
        ("a.wav", "new", "new/a.wav"),
        ("a.wav", "old.wav", "old.wav/a.wav"),
        ("a.wav", "new.wav/", "new.wav/a.wav"),
        ("b.m4a", "new.flac", "new.flac"),
        ("b.m4a", "new", "new/b.wav"),
    ):
        assert [job.target for job in plan([root / source], f"{tmp_path}/{out}").jobs] == [tmp_path / target]


def test_wrong_use_is_refused(tmp_path: Path) -> None:
    root = grow(tmp_path / "in", "a.wav", "b.wav")
    with pytest.raises(PlanError, match="no such file or folder"):
        plan([root / "a.wav", root / "c.wav"], tmp_path / "out")
    with pytest.raises(PlanError, match="is a file"):
        plan([root], grow(tmp_path, "taken.wav") / "taken.wav")
    with pytest.raises(PlanError, match="name is empty"):
        plan([root], "")
    for name in ("new.m4a", "new.PCM"):
        with pytest.raises(PlanError, match=r"cannot be written as \.(m4a|pcm); .*\.wav"):
            plan([root / "a.wav"], tmp_path / name)
        assert plan([root / "a.wav"], f"{tmp_path}/{name}/").jobs[0].target == tmp_path / name / "a.wav"


def test_what_the_system_refuses_is_wrong_use() -> None:
    with pytest.raises(PlanError, match=r"^/closed: permission denied; check the permissions"), refusals_told():
        raise PermissionError(13, "Permission denied", "/closed")


def test_an_empty_folder_is_no_error(tmp_path: Path) -> None:
    assert plan([tmp_path], tmp_path / "out") == Plan((), (), ())


def test_a_closed_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = grow(tmp_path / "in", "a/x.wav", "b/y.wav")
    real = os.listdir

    def listdir(path: Path) -> list[str]:
        if path.name == "a":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)
    made = plan([root], tmp_path / "out")
    assert [(p.name, p.reason) for p in made.closed] == [("a", "Permission denied")]
    assert [job.name for job in made.jobs] == ["b/y.wav"]


@pytest.mark.parametrize(
    ("head", "target"),
    [
        (WAV, "talk"),
        (b"\xff\xfb\x90\x64" + bytes(12), "talk"),
        (b"\0\0\0\x20ftypM4A \0\0\0\0", "talk.wav"),
        (b"\x1a\x45\xdf\xa3\x01\0\0\0", "talk.wav"),
        (b"\0\0\0\x20ftypheic\0\0\0\0", None),
        (b"\xff\xfeh\0e\0l\0l\0o\0", None),  # a text in UTF-16
        (b"RIFF\x24\x00\x00\x00WEBPVP8 ", None),
        (b"hello, this is", None),
        (b"", None),
    ],
)
def test_without_an_ending_the_first_bytes_tell(tmp_path: Path, head: bytes, target: str | None) -> None:
    made = plan([grow(tmp_path / "in", "talk", content=head)], tmp_path / "out")
    assert pairs(made, tmp_path / "out") == ({"talk": target} if target else {})
    assert reasons(made) == ({} if target else {"talk": "not audio"})
