"""No acknowledged event is lost, no changed byte is believed."""

import errno
import json
import os
import sys

import pytest

from mercer.studio.folder import Folder, FolderInUse
from mercer.studio.journal import START, Damaged, Journal, sealed
from mercer.studio.platform import write_at


def filled(path, number=5):
    journal = Journal(path)
    for i in range(number):
        journal.append({"op": "label", "rows": [i], "to": 1, "from": None, "text": "größer – 数"})
    journal.close()
    return path.read_bytes()


def test_events_come_back_with_their_seals(tmp_path):
    path = tmp_path / "journal.jsonl"
    filled(path)
    journal = Journal(path)
    assert [event["rev"] for event in journal.events] == [1, 2, 3, 4, 5] and journal.damage is None
    before = START
    for line in path.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        before = sealed(before, {name: value for name, value in event.items() if name != "hash"})
        assert event["hash"] == before
    assert journal.hash == before and journal.append({"op": "label"})["rev"] == 6


def test_a_torn_last_line_is_cut_wherever_it_is_torn(tmp_path):
    whole = filled(tmp_path / "journal.jsonl")
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for end in range(last, len(whole)):
        path = tmp_path / "torn.jsonl"
        path.write_bytes(whole[:end])
        journal = Journal(path)
        assert len(journal.events) == 4 and journal.damage is None
        journal.append({"op": "again"})
        journal.close()
        assert path.read_bytes()[:last] == whole[:last] and len(Journal(path).events) == 5


@pytest.mark.parametrize("blank", [b"\n", b"\n \n\t\n", b"\r\n", b"  "])
def test_empty_lines_at_the_end_are_cut(tmp_path, blank):
    path = tmp_path / "blank.jsonl"
    whole = filled(path)
    path.write_bytes(whole + blank)
    assert len(Journal.read(path)) == 5
    journal = Journal(path)
    assert len(journal.events) == 5 and journal.damage is None and journal.repaired is None
    assert path.read_bytes() == whole
    journal.append({"op": "again"})
    journal.close()
    assert len(Journal(path).events) == 6


def test_a_journal_of_empty_lines_has_no_events(tmp_path):
    path = tmp_path / "blank.jsonl"
    path.write_bytes(b"\n\n")
    journal = Journal(path)
    assert not journal.events and journal.append({"op": "begin"})["rev"] == 1
    journal.close()
    assert len(Journal(path).events) == 1


def test_a_changed_byte_anywhere_is_refused(tmp_path):
    whole = filled(tmp_path / "journal.jsonl")
    for place in [*range(0, len(whole), 7), len(whole) - 3]:
        path = tmp_path / "damaged.jsonl"
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        journal = Journal(path)
        line = whole[:place].count(b"\n")
        assert journal.damage is not None and len(journal.events) == line
        with pytest.raises(Damaged):
            journal.append({"op": "label"})
        journal.close()


def test_a_line_taken_out_or_put_in_another_place_is_refused(tmp_path):
    lines = filled(tmp_path / "journal.jsonl").splitlines(keepends=True)
    for other in ([*lines[:2], *lines[3:]], [lines[1], lines[0], *lines[2:]], [*lines, lines[-1]]):
        path = tmp_path / "other.jsonl"
        path.write_bytes(b"".join(other))
        assert Journal(path).damage is not None


def test_where_there_is_no_room_nothing_is_written(tmp_path, monkeypatch):
    path = tmp_path / "journal.jsonl"
    whole = filled(path)
    journal, real = Journal(path), write_at

    def full(file, data, place):
        real(file, data[:10], place)  # some bytes still go in
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys.modules["mercer.studio.journal"], "write_at", full)
    with pytest.raises(OSError, match="No space"):
        journal.append({"op": "label"})
    assert path.read_bytes() == whole and journal.rev == 5
    monkeypatch.setattr(sys.modules["mercer.studio.journal"], "write_at", real)
    assert journal.append({"op": "label"})["rev"] == 6


def test_an_event_is_on_the_disk_before_it_is_there(tmp_path, monkeypatch):
    journal, seen = Journal(tmp_path / "journal.jsonl"), []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (seen.append((os.fstat(file).st_size, journal.rev)), real(file)))
    journal.append({"op": "label"})
    assert seen == [(os.path.getsize(journal.path), 0)]


def test_one_server_a_folder(tmp_path):
    folder = Folder(tmp_path / "data.csv.mercer")
    folder.tell("http://127.0.0.1:5/?token=x")
    with pytest.raises(FolderInUse, match=r"open already at http://127.0.0.1:5/\?token=x"):
        Folder(tmp_path / "data.csv.mercer")
    folder.close()
    Folder(tmp_path / "data.csv.mercer").close()
    assert os.stat(tmp_path / "data.csv.mercer").st_mode & 0o077 == 0


def test_other_systems_lock_a_byte_and_sync_no_folder(tmp_path, monkeypatch):
    """Windows has no flock, pwrite or open folders: what takes their place there is called as it must be."""
    from types import SimpleNamespace

    from mercer.studio import platform

    taken = set()

    def locking(file, mode, size):
        place = (os.fstat(file).st_ino, os.lseek(file, 0, os.SEEK_CUR), size)
        if place in taken:
            raise OSError("the byte is locked")
        taken.add(place)

    monkeypatch.setattr(platform, "fcntl", None)
    monkeypatch.setattr(platform, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    monkeypatch.delattr(os, "pwrite")
    first, second = platform.open_file(tmp_path / "lock"), platform.open_file(tmp_path / "lock")
    assert platform.lock(first) and not platform.lock(second)
    assert platform.write_at(first, b"abc", 0) == 3 and platform.write_at(first, b"d", 1) == 1
    assert (tmp_path / "lock").read_bytes() == b"adc"
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append({"type": "x"})
    journal.append({"type": "y"})
    assert [event["type"] for event in Journal(tmp_path / "journal.jsonl").events] == ["x", "y"]
