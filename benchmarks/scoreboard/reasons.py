"""Where a peer is ahead, or less than 1.2 times behind, and why: one sentence with the physical limit.

Keys are (case, peer, "speed" or "memory"). The report refuses both a missing reason and one for a row that is fine.
"""

REASONS: dict[tuple[str, str, str], str] = {
    (
        "svdd/nu 0.1",
        "scikit-learn OneClassSVM",
        "memory",
    ): "both keep 200 MB of kernel columns; we evaluate new ones "
    "many at a time, at the speed of matrix products, and that block comes on top.",
    ("cmeans/10 clusters", "kernlab kkmeans", "memory"): "kkmeans evaluates the kernel again at every step and keeps "
    "no matrix; we keep it, 8 n² bytes, and read it at every step, which is what makes us faster. approx=300 needs "
    "2 400 n bytes.",
    ("few_label/100 labels", "scikit-learn LabelSpreading knn", "memory"): "a graph of 10 neighbours is 120 n bytes, "
    "features of 300 landmarks are 2 400 n bytes: linear in n both, and there is no smaller dense factor of that rank.",
    ("few_label/100 labels", "scikit-learn SelfTraining(SVC)", "memory"): "libsvm keeps the rows that it has labelled, "
    "we keep 300 features of every row, 2 400 n bytes.",
}
