"""Who is ahead: the ratio at the largest size a peer can run, slopes, and the reasons that must be written."""

import math

TARGET = 1.2  # peer's seconds over ours
MEMORY_SLACK_MB = 1.0  # below this the difference is the allocator's


def numbers(rows):
    """Speed rows of a CSV with numbers in place of text; n, seconds and the rest are None without a run."""
    out = []
    for row in rows:
        ok = row["status"] == "ok"
        facts = {k: float(row[k]) if ok else None for k in ("seconds", "fastest", "slowest", "peak_mb", "answer")}
        out.append({**row, "n": int(row["n"]), **facts})
    return out


def verdicts(rows):
    """One line for every case and peer that ran: both contenders at the largest size the peer managed."""
    rows = numbers(rows)
    done = {(r["part"], r["case"], r["contender"], r["n"]): r for r in rows if r["status"] == "ok"}
    lines = []
    for part, case, name, against in dict.fromkeys(
        (r["part"], r["case"], r["contender"], r["against"]) for r in rows if r["against"]
    ):
        sizes = [n for p, c, who, n in done if (p, c, who) == (part, case, name)]
        if not sizes:
            continue
        n = max(sizes)
        theirs, mine = done[part, case, name, n], done.get((part, case, against, n))
        line = {"part": part, "case": case, "peer": name, "ours": against, "n": n, "their_s": theirs["seconds"]}
        if mine is None:
            lines.append({**line, "our_s": None, "ratio": 0.0, "memory": math.inf, "fast": False, "small": False})
            continue
        small = mine["peak_mb"] <= 1.05 * theirs["peak_mb"] + MEMORY_SLACK_MB
        ratio = theirs["seconds"] / mine["seconds"]
        lines.append(
            {
                **line, "our_s": mine["seconds"], "ratio": ratio, "fast": ratio >= TARGET, "small": small,
                "memory": mine["peak_mb"] / max(theirs["peak_mb"], 0.1), "our_mb": mine["peak_mb"],
                "their_mb": theirs["peak_mb"], "our_answer": mine["answer"], "their_answer": theirs["answer"],
            }
        )  # fmt: skip
    return lines


def ahead_when_small(rows):
    """[(case, peer, ours, [(n, our seconds over theirs)])]: sizes below its largest at which a peer is faster."""
    rows = numbers(rows)
    done = {(r["part"], r["case"], r["contender"], r["n"]): r["seconds"] for r in rows if r["status"] == "ok"}
    found: dict = {}
    for (part, case, name, n), seconds in done.items():
        against = next(r["against"] for r in rows if (r["part"], r["case"], r["contender"]) == (part, case, name))
        mine = done.get((part, case, against, n))
        if mine is not None and seconds < mine:
            found.setdefault((f"{part}/{case}", name, against), []).append((n, mine / seconds))
    return [(*key, sorted(sizes)) for key, sizes in found.items()]


def slope(points, least):
    """Exponent of a power law through the last four points above `least`; None with fewer than two."""
    points = [(math.log(n), math.log(value)) for n, value in points if value is not None and value > least][-4:]
    if len(points) < 2:
        return None
    mx = sum(x for x, _ in points) / len(points)
    my = sum(y for _, y in points) / len(points)
    return sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)


def check_reasons(lines, reasons):
    """(faults, {key: reason}): a row below the target needs a reason, and a reason needs such a row.

    Keys are (case key, peer, "speed" or "memory"). Reasons of parts that were not measured are left alone.
    """
    wanted = set()
    for line in lines:
        key = f"{line['part']}/{line['case']}", line["peer"]
        wanted |= {(*key, "speed")} if not line["fast"] else set()
        wanted |= {(*key, "memory")} if not line["small"] else set()
    raced = {(f"{line['part']}/{line['case']}", line["peer"]) for line in lines}
    faults = [f"no reason is written for {key}" for key in sorted(wanted - set(reasons))]
    faults += [
        f"the reason for {key} is stale: the row is fine now"
        for key in sorted(set(reasons) - wanted)
        if key[:2] in raced
    ]
    return faults, {key: reasons[key] for key in sorted(wanted & set(reasons))}
