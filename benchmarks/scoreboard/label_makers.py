"""Set-ups of the contenders with labels: few-label classifiers and the label search. See makers.py."""

import time

import numpy as np

from .makers import fits


def few_label(method):
    def make(data):
        import mercer

        names = {"lssvm": "LSSVMClassifier", "ls_kpca": "LeastSquaresKPCA", "sgt": "SpectralGraphTransducer"}
        landmarks = min(300, len(data["X"]) // 20)  # no higher error than the peers' at any size: see the column
        options = {} if method == "sgt" else {"kernel": mercer.RBF.from_gamma(data["sharp"]), "approx": landmarks}
        return fits(lambda turn: getattr(mercer, names[method])(**options), data, _error(data), data["given"])

    return make


def sklearn_few_label(method):
    def make(data):
        from sklearn import semi_supervised
        from sklearn.svm import SVC

        made = {
            "spreading rbf": lambda: semi_supervised.LabelSpreading(gamma=data["sharp"]),
            "spreading knn": lambda: semi_supervised.LabelSpreading(kernel="knn", n_neighbors=10),
            "propagation rbf": lambda: semi_supervised.LabelPropagation(gamma=data["sharp"]),
            "self-training": lambda: semi_supervised.SelfTrainingClassifier(SVC(gamma=data["sharp"], probability=True)),
        }[method]
        return fits(lambda turn: made(), data, _error(data), data["given"])

    return make


def _error(data):
    free = data["given"] < 0

    def answer(model):
        labels = model.transduction_ if hasattr(model, "transduction_") else model.predict(data["X"])
        if labels.dtype.kind == "f":  # SelfTraining's are the labels it has taken, −1 where it has taken none
            labels = labels.astype(int)
        return 100 * np.mean(labels[free] != data["y"][free])

    return answer


# The label search


def _searches(data, **options):
    from mercer import S2RLSClassifier

    shared = {"lam": data["lam"], "kernel": "linear", "approx": "exact", "label_folds": 0, "n_jobs": 1}
    return lambda turn: S2RLSClassifier(**shared, **options, random_state=turn)


def one_flip(data):
    """Seconds of one evaluation inside our search: those of a search over its number of evaluations."""
    fit, _ = fits(_searches(data, n_restarts=5), data, None, data["given"])

    def run(turn):
        model = fit(turn)
        return model, {"seconds": 1.0 / model.result_.info["evaluations_per_second"]}

    return run, lambda found: found[0].result_.objective


def naive_evaluation(data):
    """The paper's O(n²) evaluation: c = D G D y and the objective at it, with K and G = (D K D + λI)⁻¹ at hand."""
    X, lam, labeled = data["X"], data["lam"], data["given"] >= 0
    d = np.where(labeled, 1 / np.sqrt(labeled.sum()), 1 / np.sqrt((~labeled).sum()))
    signs = 2.0 * data["y"] - 1.0
    stored = {}

    def run(turn):
        if not stored:
            K = X @ X.T
            stored.update(K=K, G=np.linalg.inv(d[:, None] * K * d + lam * np.eye(len(X))))
        times = []
        for _ in range(3):
            start = time.perf_counter()
            c = d * (stored["G"] @ (d * signs))
            Kc = stored["K"] @ c
            value = np.sum((d * (signs - Kc)) ** 2) + lam * c @ Kc
            times.append(time.perf_counter() - start)
        return value, {"seconds": min(times)}

    return run, lambda found: found[0]


def search(kind):
    return lambda data: fits(
        _searches(data, n_restarts=50, search=kind), data, lambda model: model.result_.objective, data["given"]
    )
