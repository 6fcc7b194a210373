"""Where a peer is ahead, or less than 1.2 times behind, and why: one sentence with the physical limit.

Keys are (case, peer, "speed" or "memory"). The report refuses both a missing reason and one for a row that is fine.
"""

NOTES = {  # what else a reader of a part must know
    "cmeans": "tslearn assumes that every cluster mean has norm 1, so it solves another problem and its inertia is "
    "higher. kkmeans stops with an error when a cluster shrinks to one row. It is then started again, untimed. "
    "Up to 3,000 rows mercer stores the kernel matrix. Above, it stores only the rows that are being added up.",
    "few_label": "LabelSpreading on a neighbor graph is compared with LS-KPCA through landmarks, one for 20 rows and "
    "at most 300. Both do the same job, and LS-KPCA has no higher error. mercer's own graph method, SGT, is slower up "
    "to 16,000 rows and about as fast at 32,000. It computes 80 eigenvectors of the graph, while LabelSpreading makes "
    "30 sparse products.",
    "label_search": "One evaluation of mercer is the time of a whole search divided by the number of labelings that it "
    "compares. The naive way has K and (DKD + λI)⁻¹ stored beforehand, untimed.",
    "ridge": "mercer exact solves the same equations as KernelRidge to a relative residual of 1e-10, with a Cholesky "
    "factor in float32 as preconditioner. mercer default uses 1,000 landmarks above 5,000 rows.",
    "svdd": "All contenders use the same cache of 200 MB.",
}

REASONS: dict[tuple[str, str, str], str] = {
    (
        "label_search/search",
        "the paper's evolution",
        "memory",
    ): "Both need 73 MB at n = 2,000. At 4,000 the search needs "
    "33 MB and the evolution, which is mercer's too, 28.5 MB. The cause of the 4.5 MB is not known.",
}
