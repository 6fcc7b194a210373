"""Recover a session if the learner fails or ends, or if its table changes. No label is lost."""

import asyncio
from typing import TYPE_CHECKING

from ..errors import InputError
from ..jobs.usage import UsageError
from .history import said
from .journal import JournalReplaced
from .table import TableRows

if TYPE_CHECKING:
    from .session import Session

WAITS = ("disk_full", "journal_gone", "learner_fault")  # problems that end when their cause is removed
AGAIN = "Undo the event, or go on labeling, and the learner tries again."
TRIES = 2  # times that the learner may end with the same labels before these are ignored


def check_journal(session: "Session") -> None:
    """Report that the journal was deleted or replaced, and keep a copy of all events."""
    try:
        session.journal.check()
    except JournalReplaced as error:
        if session.problem and session.problem["code"] == "journal_gone":
            return
        try:
            kept = f"The {session.journal.rev} events so far are in {session.journal.copy().name} next to it."
        except OSError:
            kept = f"The folder {session.folder.path.name} cannot be written to either."
        text = f"{error} {kept} Put the file back, or rename the copy and start `mercer studio` again."
        session.has_problem("journal_gone", text)
    else:
        session.solved("journal_gone")


async def table_changed(session: "Session") -> None:
    """Stop learning from a table that has changed. Report which labels would be found again."""
    if session.teacher:
        teacher, session.teacher = session.teacher, None
        await asyncio.to_thread(teacher.close)
    labeled, name = sorted(session.ledger.labels), session.data.name
    try:
        new = await asyncio.to_thread(TableRows, session.data, session.target, session.options)
        keys = [session.ledger.keys.get(row) for row in labeled]
        places = await asyncio.to_thread(new.places, keys)
    except (InputError, OSError, UsageError) as error:
        text = f"{name} was changed and cannot be read now: {error} No label is lost."
        session.has_problem("file_changed", text, matched=0, unmatched=[])
        return
    lost = [session.rows.name(row) for row, place in zip(labeled, places) if place is None]
    text = f"{name} was changed on the disk, so nothing is learned from it. {len(labeled) - len(lost)} of "
    text += f"{len(labeled)} labeled rows are in the new file. Start `mercer studio` again to go on with it. "
    text += "Labels of rows that are gone are kept."
    session.has_problem("file_changed", text, matched=len(labeled) - len(lost), unmatched=lost[:100])


async def table_restored(session: "Session") -> None:
    """Go on when the earlier table was put back."""
    session.solved("file_changed")
    await restart(session)


def fault(session: "Session", rev: int, sentence: str) -> None:
    """Report that the learner failed on the labels of an event. It goes on with the next one."""
    text = f"{_named(session, rev)} could not be learned from: {sentence} Every label is kept. {AGAIN}"
    session.has_problem("learner_fault", text)


def gone(session: "Session") -> asyncio.Task | None:
    """Start the learner again when its process has ended, without the labels with which it ended twice."""
    if session.problem is not None and session.problem["code"] not in WAITS:
        return None
    task = session.sent
    same = None if task is None else task.same
    session.ended[same] = session.ended.get(same, 0) + 1
    again = session.ended[same] >= TRIES
    if session.start_teacher is None or (again and task is None):
        text = "The process that learns has ended. Labels are kept. Start `mercer studio` again to learn from them."
        session.has_problem("learner_gone", text)
        return None
    at = "" if task is None else f" at {_named(session, task.rev).lower()}"
    text = f"The process that learns ended{at}. It is started again, and every label is kept."
    if again:
        text = f"The process that learns ended twice{at}. Every label is kept, and nothing more is learned from these. "
        text += AGAIN
    session.has_problem("learner_fault", text)
    return asyncio.get_running_loop().create_task(restart(session))


async def restart(session: "Session") -> None:
    """A new learner with the present labels, unless it ended with these twice."""
    if session.start_teacher is None:
        return
    session.sent = None
    session.teacher = await asyncio.to_thread(session.start_teacher)
    session.listen()


def _named(session: "Session", rev: int) -> str:
    events = session.journal.events
    if not 0 < rev <= len(events):
        return "The start"
    return f"Event {rev} ({said(events[rev - 1], session.ledger, session.rows)})"
