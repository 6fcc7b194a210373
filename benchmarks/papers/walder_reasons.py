"""What is known about the cells of walder.md that differ from the paper's; called by walder_page.py."""

HARD = (
    "The SVM: the paper's has a hard margin, ours C = 100. On labels that cannot be separated a hard margin costs "
    "much: KPCA-10 with 100 labels, width 1, C = 10⁶ in place of 100: g241c 26.2 for 16.0, g241d 30.2 for 15.1, digit1 "
    "11.4 for 8.7, usps 31.6 for 15.0, bci 51.4 for 47.4, text 46.3 for 26.6. The paper's figures lie between on "
    "g241c, g241d, bci and text: the likely reason for the better cells of KPCA-10 and MV-KPCA-10."
)
CENTRED = (
    "Centring: with the variance about 0 in place of that about the mean, the form that the paper uses for its bound "
    "and for the SGT, G-LS by CV error (10 neighbours, τ = 3 and 30; 3 to 12 splits) has 12.9, 48.9, 68.6, 48.0 % on "
    "digit1, g241c, coil, text with 10 labels and 2.6, 37.2, 18.6, 28.4 % with 100. That is nearer to the paper than "
    "ours, or beyond it, in each of the eight: a likely part of the reason for the better cells of G-LS and M-LS. Not "
    "all of it: the paper's 18.1 on digit1 and 25.3 on coil are higher still. Other τ (0.1 … 100), other s² (0.01 … "
    "1000) and the squared left-out error as the rule were tried on some splits and change little."
)
WRONG_PAIR = (
    "The set has two distant pairs of clusters, each pair holding both classes, and the smoothest function on the "
    "graph separates the pairs. Ten labels do not overrule it: the error is 50 % with hardly any spread."
)
CHANCE = "Ten labels say next to nothing about this set: every method is near 50 %, here and in the paper."
NEAR_KPCA = (
    "Candidates of nearly the same quality: LS-KPCA with c = 0.001, nearly the first principal component, has about "
    "12.6 %, and what is chosen on the labels costs the difference."
)
FLIPPED = (
    "The paper's error is far above the 20 % of the answer that there is no positive row: its functions must have had "
    "the wrong sign or threshold on most splits."
)
KNOWN: dict = {(method, l, name): CHANCE for method in ("LR-KPCA", "M-LS", "G-LS") for l in (10,) for name in ("bci",)}
KNOWN |= {(method, 10, "g241d"): WRONG_PAIR for method in ("G-LS", "M-LS")}
KNOWN |= {(method, 100, "g241c"): NEAR_KPCA for method in ("LR-KPCA", "MV-KPCA")}
KNOWN |= {(method, 10, "usps"): FLIPPED for method in ("MV-KPCA", "MV-KPCA-10")}
BY_METHOD = {"KPCA-10": HARD, "MV-KPCA-10": HARD, "G-LS": CENTRED, "M-LS": CENTRED}


def why(cell, other):
    """A sentence on a cell by margins, given the same cell by the paper's rule."""
    if other.side == "not run":
        rule = "Not run by CV error."
    elif other.side == "agree":
        rule = f"The rule: by CV error it is {other.ours:.1f}, which agrees ({other.off:+.1f} s.e.)."
    elif other.side == cell.side:
        rule = f"Not the rule: by CV error it is {other.ours:.1f} ({other.off:+.1f} s.e.)."
    else:
        rule = f"By CV error it is {other.ours:.1f} ({other.off:+.1f} s.e.)."
    note = KNOWN.get((cell.method, cell.labels, cell.name), "")
    if not note and cell.side == "better" and cell.method in BY_METHOD:
        note = f"See {'the SVM' if BY_METHOD[cell.method] is HARD else 'centring'} above."
    return f"{rule} {note}".rstrip()


def overview(cells):
    """Why the cells differ, in words."""
    margin = [cell for cell in cells.values() if cell.rule == "margin" and cell.side == "better"]
    same = [cell for cell in margin if cells[cell.method, cell.labels, cell.name, "cv"].side == "better"]
    return [
        f"Of the {len(margin)} cells that are better by margins, {len(same)} are better by the paper's rule too: the "
        "rule is not what makes them better. Two differences that were found by trying:",
        "",
        f"- {HARD}",
        f"- {CENTRED}",
        "",
        "By CV error, ties among dozens of candidates are broken at random, and the mean error is higher in most "
        "cells: that is what the rule by margins is for.",
    ]
