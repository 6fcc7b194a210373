"""`mercer demo`: the main job on data that ships with scikit-learn, with the answers at hand to check it."""

import numpy as np

from ..datasets.digits import few_label_digits
from ..files import replacing
from ..jobs.sources import claim
from ..jobs.usage import UsageError
from .labelling import label


def demo(screen, out, seed=0):
    """Label 1 777 digits from 20, write table, report and model to a folder, and compare with the truth."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file. Give a folder with --out.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"The folder {out} cannot be made: {error.strerror}. Give another with --out.") from None
    frame, truth = few_label_digits(seed)
    files = {name: out / f"digits{name}" for name in (".csv", "_labelled.csv", "_report.html", ".mercer")}
    claim(screen, files[".csv"], force=True)
    with replacing(files[".csv"], force=True) as (part,):
        frame.to_csv(part, index=False)
    command = f"mercer label {files['.csv']} --target digit --id image --out {files['_labelled.csv']}"
    command += f" --report {files['_report.html']} --save {files['.mercer']} --force"
    screen.say(f"1797 handwritten digits, 64 pixels each; 20 have a label (seed {seed}).\n$ {command}")
    outputs = {"out": files["_labelled.csv"], "report": files["_report.html"], "save": files[".mercer"]}
    [(model, answer)] = label(screen, files[".csv"], ["digit"], **outputs, id="image", force=True)
    hidden = (frame["digit"] == "").to_numpy()
    right = model.classes_[answer.codes] == truth
    sure = hidden & (answer.confidence >= np.median(answer.confidence[hidden]))
    screen.result |= {"accuracy": float(right[hidden].mean()), "accuracy_of_the_surer_half": float(right[sure].mean())}
    screen.say(
        f"\nThe true digits are known here: {right[hidden].mean():.1%} of the {hidden.sum()} answers are right, and "
        f"{right[sure].mean():.1%} of the half it was surer of."
    )
