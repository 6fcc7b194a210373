"""`mercer demo` runs `mercer label` on digits that ship with scikit-learn, and compares it with the true labels."""

import numpy as np

from ..datasets.digits import few_label_digits
from ..files import replacing
from ..jobs.usage import UsageError
from .labeling import label
from .outputs import claim


def demo(console, out, seed=0):
    """Label 1,777 digits from 20, write table, report and model to a folder, and compare with the truth."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file. Give a folder with --out.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"The folder {out} cannot be made: {error.strerror}. Give another with --out.") from None
    frame, truth = few_label_digits(seed)
    files = {name: out / f"digits{name}" for name in (".csv", "_labeled.csv", "_report.html", ".mercer")}
    claim(console, files[".csv"], force=True)
    with replacing(files[".csv"], force=True) as (part,):
        frame.to_csv(part, index=False)
    command = f"mercer label {files['.csv']} --target digit --id image --out {files['_labeled.csv']}"
    command += f" --report {files['_report.html']} --save {files['.mercer']} --force"
    console.say(f"1,797 handwritten digits of 64 pixels, 20 of them with a label (seed {seed}).\n$ {command}")
    outputs = {"out": files["_labeled.csv"], "report": files["_report.html"], "save": files[".mercer"]}
    [(model, answers)] = label(console, files[".csv"], ["digit"], **outputs, id="image", force=True)
    hidden = (frame["digit"] == "").to_numpy()
    right = model.classes_[answers.codes] == truth
    sure = hidden & (answers.confidence >= np.median(answers.confidence[hidden]))
    console.result |= {"accuracy": float(right[hidden].mean()), "accuracy_of_the_surer_half": float(right[sure].mean())}
    console.say(
        f"\nThe true digits are known here: {right[hidden].mean():.1%} of the {hidden.sum():,} predictions are "
        f"correct, and {right[sure].mean():.1%} of the half with the higher confidence."
    )
