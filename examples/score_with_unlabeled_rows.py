"""Cross-validate a classifier when most rows have no label.

scikit-learn's splitters deal the unlabeled rows into the test folds and count every one as an error. The splitters of
mercer keep them in the training folds for the method to use, and test on labeled rows only.

    python examples/score_with_unlabeled_rows.py
"""

import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from mercer import LSSVMClassifier
from mercer.model_selection import LabeledKFold, LabeledScorer, LeaveOneLabelOut, leave_one_label_out

warnings.filterwarnings("ignore", module="sklearn")  # small classes and rows without neighbors are the point here


def main():
    X, truth = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    y = np.full(len(truth), -1)
    labeled = np.random.default_rng(0).choice(len(y), 50, replace=False)
    y[labeled] = truth[labeled]
    hidden = y < 0
    print(f"{len(y)} rows, {len(labeled)} labels, 10 classes\n")

    model = LSSVMClassifier()
    accuracy = np.mean(model.fit(X, y).transduction_[hidden] == truth[hidden])
    print(f"accuracy on the unlabeled rows, to be estimated  {accuracy:.2f}")
    theirs = cross_val_score(model, X, y, cv=StratifiedKFold(5), scoring="accuracy")
    print(f"cross_val_score(cv=StratifiedKFold(5), scoring='accuracy')    {theirs.mean():.2f}")
    ours = cross_val_score(model, X, y, cv=LabeledKFold(5), scoring="accuracy")
    print(f"cross_val_score(cv=LabeledKFold(5), scoring='accuracy')      {ours.mean():.2f}")
    balanced = cross_val_score(model, X, y, cv=LabeledKFold(5), scoring=LabeledScorer("balanced_accuracy"))
    print(f"the same with scoring=LabeledScorer('balanced_accuracy')     {balanced.mean():.2f}")

    found = leave_one_label_out(model, X, y)
    low, high = found.interval[0]
    print(f"leave-one-label-out, in closed form                           {found.accuracy[0]:.2f}", end="")
    print(f"  (95% interval {low:.2f} to {high:.2f})\n")

    search = GridSearchCV(model, {"gamma": [0.1, 1.0, 10.0, 100.0]}, cv=LabeledKFold(5), scoring="accuracy").fit(X, y)
    print(f"GridSearchCV(cv=LabeledKFold(5)) chooses {search.best_params_}")
    chosen = model.select(X, y)
    print(
        f"model.select(X, y) chooses {chosen.selection_['candidates'][chosen.selection_['chosen']] or 'the defaults'}:"
    )
    print(f"  {chosen.selection_['reason']}")

    other = make_pipeline(StandardScaler(), LabelSpreading(kernel="knn", n_neighbors=7))
    folds = cross_val_score(other, X, y, cv=LeaveOneLabelOut())
    print(f"\nThe splitters serve any estimator: LabelSpreading, leave-one-label-out {folds.mean():.2f}")


if __name__ == "__main__":
    main()
