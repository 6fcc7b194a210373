"""The regression guard: ratios of a quick race next to stored ones; a fall by more than 30% is flagged."""

FALL = 0.3


def ratios(rows):
    """{(case, peer): peer's fastest run / ours} of speed rows at one size each; anyone who did not run is left out."""
    from .judge import verdicts

    lines = verdicts([{**row, "seconds": row["fastest"]} for row in rows])  # with few runs the fastest is the steadiest
    return {(f"{line['part']}/{line['case']}", line["peer"]): line["ratio"] for line in lines}


def compare(found, stored, fall=FALL):
    """Lines (dicts) and whether any ratio fell by more than `fall`; pairs on one side only are named, not flagged."""
    lines, bad = [], False
    for key in sorted(set(found) | set(stored)):
        now, then = found.get(key), stored.get(key)
        if now is None or then is None:
            verdict = "did not run here" if now is None else "new: no stored ratio"
        elif now < (1 - fall) * then:
            verdict, bad = f"FELL by {100 * (1 - now / then):.0f}%", True
        else:
            verdict = "ok"
        shown = ["" if value is None else f"{value:.3g}" for value in (now, then)]
        lines.append({"case": key[0], "peer": key[1], "ratio now": shown[0], "stored": shown[1], "verdict": verdict})
    return lines, bad
