"""Random commands with legal options, and now and then an illegal one."""

METHODS = ["rls", "lssvm"] * 6 + ["auto", "rls,lssvm", "s2rls", "diffusion", "forest", "sgt,mv_kpca", "all"]
KERNELS = ["rbf", "laplacian", "matern32", "linear", "poly", "cosine", "forest"]
ENCODINGS = [
    "undefined",
    "punycode",
    "idna",
    "rot13",
    "base64",
    "utf-7",
    "utf-16",
    "latin-1",
    "no such",
    "mbcs",
    "zip",
    "",
]
DELIMITERS = ["\n", "\r", "\r\n", "", "ab", '"', " ", "tab", "\\t", "\0", "a", "1", "é", ".", "'", "\\", "^", "𝕊"]
COMMANDS = ["label", "label", "suggest", "check", "predict", "embed", "cluster", "novelty", "look"] * 3 + ["compare"]


def command(R, names, target, write):
    """(name, list of options, column names that are promised); `write` shows how a path is chosen for an option."""
    name = R.choice(COMMANDS)
    options = {"label": _label, "suggest": _suggest, "check": _check, "compare": _compare}.get(name)
    found = (
        options(R, target, write)
        if options
        else {"embed": _embed, "cluster": _cluster, "novelty": _novelty}.get(name, lambda R, write: [])(R, write)
    )
    if name == "look" and R.random() < 0.5:
        found += ["-t", target]
    if name == "predict":
        found += _sets(R)
    if name in ("label", "suggest", "check", "compare", "look", "embed", "cluster", "novelty"):
        found += _columns(R, names)
    if name in ("label", "suggest", "check", "compare") and R.random() < 0.2:
        found += R.choice([["--missing", R.choice(["-1", "", "?", "a"])], ["--include", R.choice(names or ["x"])]])
        found += ["--as", R.choice(["number", "class"])] if R.random() < 0.3 else []
    if R.random() < 0.04:
        found += ["--encoding", R.choice(ENCODINGS)]
    if R.random() < 0.04:
        found += ["--delimiter", R.choice(DELIMITERS)]
    if R.random() < 0.02:
        found += R.choice([["--sheet", "x"], ["--table", "x"], ["--embed", "v.npy"], ["--nonsense"], ["--seed", "x"]])
    if R.random() < 0.2:
        found += ["--json"]
    elif R.random() < 0.1:
        found += ["--quiet"]
    if name in ("label", "embed", "cluster", "novelty", "suggest", "check") and R.random() < 0.2:
        found += ["--seed", str(R.randrange(5))]
    return name, found


def _search(R):
    return ["-m", R.choice(METHODS), "--seconds", "1"]


def _sets(R):
    found = ["--probabilities"] if R.random() < 0.2 else []
    found += ["--abstain", R.choice(["0.5", "0.9", "0", "0.999", "nan", "1"])] if R.random() < 0.2 else []
    found += ["--coverage", R.choice(["0.9", "0.5", "0.99"])] if R.random() < 0.2 else []
    return found + (["--by-class"] if "--coverage" in found and R.random() < 0.5 else [])


def _label(R, target, write):
    found = ["-t", target, *_search(R), *_sets(R)]
    found += write("--report", 0.25) + write("--save", 0.15)
    return found


def _suggest(R, target, write):
    found = ["-t", target, *_search(R), "-n", str(R.choice([1, 3, 20, 1000]))]
    found += ["--audit", R.choice(["0", "0.2", "1", "0.5"])] if R.random() < 0.5 else []
    return found + write("--only", 0.3)


def _check(R, target, write):
    return ["-t", target, *_search(R), "--above", R.choice(["0.5", "0", "0.9"])]


def _compare(R, target, write):
    return ["-t", target, "--seconds", "1"]


def _kernel(R, write):
    found = ["--kernel", R.choice(KERNELS)] if R.random() < 0.5 else []
    return found + (["--no-scale"] if R.random() < 0.2 else []) + write("--report", 0.25)


def _embed(R, write):
    return ["-m", R.choice(["kpca", "robust", "sparse"]), "-d", str(R.choice([1, 2, 3, 20])), *_kernel(R, write)]


def _cluster(R, write):
    return ["-k", str(R.choice([1, 2, 3, 10])), *_kernel(R, write)]


def _novelty(R, write):
    return [
        "-m",
        R.choice(["svdd", "kpca", "density"]),
        "--share",
        R.choice(["0.05", "0.5", "0.2"]),
        *_kernel(R, write),
    ]


def _columns(R, names):
    found = []
    for option, chance in [
        ("--ignore", 0.3),
        ("--text", 0.1),
        ("--category", 0.1),
        ("--number", 0.1),
        ("--image", 0.03),
    ]:
        while names and R.random() < chance:
            found += [option, R.choice(names)]
    if R.random() < 0.05:
        found += [part for name in names[:50] for part in ("--ignore", name)]
    return found
