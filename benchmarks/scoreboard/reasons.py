"""Where a peer is ahead, or less than 1.2 times behind, and why: one sentence with the physical limit.

Keys are (case, peer, "speed" or "memory"). The report refuses both a missing reason and one for a row that is fine.
"""

NOTES = {  # what else a reader of a part must know
    "cmeans": "tslearn takes the norm of every cluster mean for 1, so it solves another problem and its inertia is "
    "higher; kkmeans stops with an error when a cluster shrinks to one row and is then started again, untimed. "
    "Up to 3 000 rows mercer keeps the kernel matrix, beyond them only the rows of it that are being added up.",
    "few_label": "LabelSpreading on a neighbour graph is compared with LS-KPCA through landmarks, one for 20 rows and "
    "at most 300: the same job, "
    "no higher error. Our own graph method, SGT, is slower than it up to 16 000 rows and about as fast at 32 000: it "
    "computes 80 eigenvectors of the graph where LabelSpreading makes 30 sparse products.",
    "label_search": "One evaluation: ours is the time of a whole search over the labelings it has compared. The naive "
    "way has K and (DKD + λI)⁻¹ stored beforehand, untimed.",
    "ridge": "mercer exact solves the same equations as KernelRidge to a relative residual of 1e-10, with a Cholesky "
    "factor in float32 as preconditioner; mercer default takes 1 000 landmarks above 5 000 rows.",
    "svdd": "The same cache, 200 MB, for everybody.",
}

REASONS: dict[tuple[str, str, str], str] = {
    ("label_search/search", "the paper's evolution", "memory"): "Equal at n = 2 000 (73 MB); at 4 000 ours takes 33 MB "
    "and the evolution, which is ours too, 28.5 MB. Where the 4.5 MB come from has not been found.",
}
