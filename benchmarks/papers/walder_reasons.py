"""What is known about the cells of walder.md that differ from the paper's; called by walder_page.py."""

KNOWN: dict = {}


def why(cell, other):
    """A sentence on a cell by margins, given the same cell by the paper's rule."""
    if other.side == "agree":
        rule = f"The rule: by CV error it is {other.ours:.1f}, which agrees ({other.off:+.1f} s.e.)."
    elif other.side == cell.side:
        rule = f"Not the rule: by CV error it is {other.ours:.1f} ({other.off:+.1f} s.e.)."
    else:
        rule = f"By CV error it is {other.ours:.1f} ({other.off:+.1f} s.e.)."
    note = KNOWN.get((cell.method, cell.labels, cell.name), "")
    return f"{rule} {note}".rstrip()


def overview(cells):
    """The counts in words."""
    return []
