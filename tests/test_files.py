"""Files appear whole or not at all."""

import os
import signal

import pytest

from mercer import files
from mercer.errors import InputError
from mercer.files import refuse_path, replacing


@pytest.fixture
def old(tmp_path):
    (tmp_path / "old.txt").write_text("precious")
    return tmp_path / "old.txt"


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_interrupted_write_leaves_every_old_file_and_no_other(tmp_path, old, fault):
    with pytest.raises(fault), replacing(old, tmp_path / "new.txt", force=True) as (first, second):
        first.write_text("whole")
        second.write_text("half")
        raise fault
    assert old.read_text() == "precious"
    assert os.listdir(tmp_path) == ["old.txt"]


def test_whole_files_appear_together(tmp_path, old):
    with replacing(old, tmp_path / "new.txt", force=True) as parts:
        for part in parts:
            assert part.parent == tmp_path  # on the same disk, so that the move is atomic
            part.write_text("whole")
        assert old.read_text() == "precious"
        assert not (tmp_path / "new.txt").exists()
    assert old.read_text() == (tmp_path / "new.txt").read_text() == "whole"
    assert sorted(os.listdir(tmp_path)) == ["new.txt", "old.txt"]


def test_a_file_that_exists_is_refused_unless_forced_also_if_it_came_meanwhile(tmp_path, old):
    with pytest.raises(InputError, match=r"old\.txt exists\. Use --force"):
        refuse_path(old)
    refuse_path(old, force=True)
    with pytest.raises(InputError, match=r"new\.txt exists"), replacing(tmp_path / "new.txt") as (part,):
        part.write_text("ours")
        (tmp_path / "new.txt").write_text("theirs")
    assert (tmp_path / "new.txt").read_text() == "theirs"
    assert sorted(os.listdir(tmp_path)) == ["new.txt", "old.txt"]


def test_a_file_that_comes_in_the_last_moment_is_kept_and_none_of_ours_appears(tmp_path, monkeypatch):
    place = files._place

    def late(part, target, path, force):
        if path.name == "second.txt":
            (tmp_path / "second.txt").write_text("theirs")
        place(part, target, path, force)

    monkeypatch.setattr(files, "_place", late)
    both = tmp_path / "first.txt", tmp_path / "second.txt"
    with pytest.raises(InputError, match=r"second\.txt exists"), replacing(*both) as parts:
        for part in parts:
            part.write_text("ours")
    assert (tmp_path / "second.txt").read_text() == "theirs"
    assert os.listdir(tmp_path) == ["second.txt"]


def test_a_disk_without_links_is_written_too(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError("not supported")

    monkeypatch.setattr(os, "link", refused)
    with replacing(tmp_path / "new.txt") as (part,):
        part.write_text("whole")
    assert (tmp_path / "new.txt").read_text() == "whole"
    assert os.listdir(tmp_path) == ["new.txt"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_between_two_files_waits_until_both_are_there(tmp_path, old, monkeypatch, number):
    place, heard = files._place, []

    def disturbed(*arguments):
        place(*arguments)
        signal.raise_signal(number)

    monkeypatch.setattr(files, "_place", disturbed)
    before = signal.signal(number, lambda *_: heard.append(old.read_text() + (tmp_path / "new.txt").read_text()))
    try:
        with replacing(old, tmp_path / "new.txt", force=True) as parts:
            for part in parts:
                part.write_text("whole")
    finally:
        signal.signal(number, before)
    assert old.read_text() == (tmp_path / "new.txt").read_text() == "whole"
    assert heard == ([] if number == signal.SIGINT else ["wholewhole"] * 2)


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_a_replaced_file_keeps_its_permissions_and_is_never_more_open(old, mode):
    old.chmod(mode)
    with replacing(old, force=True) as (part,):
        assert part.stat().st_mode & 0o777 == mode
        part.write_text("whole")
    assert old.stat().st_mode & 0o777 == mode


def test_a_new_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "plain.txt").touch()
    with replacing(tmp_path / "new.txt"):
        pass
    assert (tmp_path / "new.txt").stat().st_mode == (tmp_path / "plain.txt").stat().st_mode


@pytest.mark.parametrize("there", [True, False], ids=["file", "dangling"])
def test_a_link_stays_a_link_and_its_target_is_written(tmp_path, there):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target.txt", tmp_path / "link.txt"
    if there:
        target.write_text("precious")
    link.symlink_to(target)
    with replacing(link, force=True) as (part,):
        part.write_text("whole")
    assert link.is_symlink()
    assert target.read_text() == "whole"
    assert os.listdir(tmp_path / "folder") == ["target.txt"]
    assert sorted(os.listdir(tmp_path)) == ["folder", "link.txt"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (".", "is a folder. Give the name of a file."),
        ("no/out.csv", "There is no folder no. Create it first."),
        ("lost.txt", "There is no folder /nowhere. Create it first."),
        ("/dev/null", "/dev/null is not a regular file. Give the name of a file."),
        ("/proc/out.csv", "/proc/out.csv cannot be written ("),
        ("x" * 300, "cannot be written (File name too long). Give a path elsewhere."),
    ],
)
def test_places_that_cannot_be_written_are_refused_in_a_sentence_before_the_block(tmp_path, monkeypatch, name, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lost.txt").symlink_to("/nowhere/target.txt")
    for refuse in (refuse_path, lambda path, force: replacing(path, force=force).__enter__()):
        with pytest.raises(InputError) as error:
            refuse(name, force=True)
        assert words in str(error.value)
    assert os.listdir(tmp_path) == ["lost.txt"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_or_file_without_permission_is_refused(tmp_path, old):
    old.chmod(0o400)
    with pytest.raises(InputError, match="write-protected"):
        refuse_path(old, force=True)
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="Permission denied"):
        refuse_path(tmp_path / "new.txt")
    tmp_path.chmod(0o700)
