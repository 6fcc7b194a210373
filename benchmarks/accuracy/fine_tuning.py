"""mercer with a sentence model compared with SetFit, which trains the same model further: errors and seconds.

    pip install setfit
    python -m benchmarks.accuracy.fine_tuning --vectors FILE --model FOLDER [--sets "film snippets" questions]
        [--labels 20 50] [--seeds 1] [--threads 1]

FILE comes from `python -m benchmarks.accuracy.text_sets FILE`. FOLDER is all-MiniLM-L6-v2 as sentence-transformers
saves it. SetFit has its own defaults, with 20 pairs per label. The seconds of mercer include the vectors of all texts.
Seconds are those of processors, so other programs that run at the same time change them little.

Printed, and written to benchmarks/results/fine_tuning.md.
"""

import os
import time
from shlex import quote
from tempfile import TemporaryDirectory

from benchmarks.harness import arguments, machine, markdown, publish, thread_variables

SETS = ["film snippets", "questions"]


def main():
    """Run the draws and print the table."""
    from pathlib import Path

    options = arguments(
        __doc__,
        threads=1,
        vectors={"type": Path, "required": True, "help": "file of texts, see benchmarks.accuracy.text_sets"},
        model={"type": Path, "required": True, "help": "folder of all-MiniLM-L6-v2"},
        sets={"nargs": "+", "default": SETS, "help": "names of sets"},
        labels={"nargs": "+", "type": int, "default": [20, 50], "help": "numbers of labels"},
        seeds={"type": int, "default": 1, "help": "draws of the labels (default %(default)s)"},
    )
    os.environ.update(thread_variables(options.threads))
    os.environ["HF_HUB_OFFLINE"] = "1"
    import numpy as np

    from benchmarks.accuracy.evidence import labeled
    from benchmarks.accuracy.text_sets import read

    sets = read(options.vectors)
    rows = []
    for name in options.sets[:1] if options.quick else options.sets:
        texts, y = sets[name]["text"], sets[name]["class"]
        for number in options.labels[:1] if options.quick else options.labels:
            found = {"mercer": [], "SetFit": []}
            for seed in range(options.seeds):
                known = labeled(np.random.default_rng([seed, sum(name.encode())]), y, number)
                rest = np.setdiff1d(np.arange(len(y)), known)
                for peer, function in (("mercer", by_mercer), ("SetFit", by_setfit)):
                    begun = time.process_time()
                    answer = np.asarray(function(texts, y, known, str(options.model)))
                    found[peer].append((100 * np.mean(answer[rest] != y[rest]), time.process_time() - begun))
            rows.append({"set": name, "labels": number, "draws": options.seeds})
            for peer, pairs in found.items():
                error, seconds = np.mean(pairs, axis=0)
                rows[-1] |= {f"{peer}, error": f"{error:.1f}%", f"{peer}, seconds": f"{seconds:.0f}"}
            print(rows[-1], flush=True)
    publish("fine_tuning", page(rows, options.sets, options.seeds), options.quick)


def page(rows, sets, seeds):
    """The page with its command."""
    note = "Mean error on the unlabeled texts of 1,000, and seconds of one core, the vectors of all texts included."
    command = f"python -m benchmarks.accuracy.fine_tuning --vectors FILE --model FOLDER --seeds {seeds}"
    command += "".join(f" {quote(name)}" for name in ["--sets", *sets]) if sets != SETS else ""
    head = f"# A sentence model trained further\n\n`{command}`: {note}"
    return f"{head}\n\n{markdown(rows)}\n\n{machine()}\n"


def by_mercer(texts, y, known, model):
    """What `FewLabelClassifier` says of all texts."""
    import pandas as pd

    from benchmarks.accuracy.evidence import masked
    from mercer import FewLabelClassifier

    frame = pd.DataFrame({"text": texts})
    return FewLabelClassifier(text_model=model).fit(frame, masked(y, known)).transduction_


def by_setfit(texts, y, known, model):
    """What SetFit says of all texts."""
    from datasets import Dataset
    from setfit import SetFitModel, Trainer, TrainingArguments

    names = sorted(set(y[known].tolist()))
    some = {"text": [texts[i] for i in known], "label": [names.index(y[i]) for i in known]}
    trained = SetFitModel.from_pretrained(model)
    with TemporaryDirectory() as folder:  # SetFit writes checkpoints of 270 MB
        settings = TrainingArguments(folder, batch_size=16, num_epochs=1, num_iterations=20, report_to="none")
        Trainer(model=trained, args=settings, train_dataset=Dataset.from_dict(some)).train()
    return [names[int(code)] for code in trained.predict(texts)]


if __name__ == "__main__":
    main()
