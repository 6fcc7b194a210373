"""How each contender is set up: `make(data)` warms up and returns (run, answer).

`run(turn)` does the timed work and `answer(what run returned)` gives its value afterwards, untimed. Imports happen
inside, so that a process loads only its own contender.
"""

import time

import numpy as np

SOME = 800  # rows of the warm-up


def _kernel(data):
    from mercer import RBF

    return RBF.from_gamma(data["gamma"])


def _fits(make, data, answer, y=None):
    """(run, answer) of an estimator that is made for every turn and fitted on all rows."""
    X = data["X"]
    make(0).fit(X[:SOME], None if y is None else y[:SOME])
    return (lambda turn: make(turn).fit(X, y)), answer


def _transforms(make, data, answer):
    """The same for fit_transform; `answer` takes the model and the projections."""
    X = data["X"]
    make().fit_transform(X[:SOME])

    def run(turn):
        model = make()
        return model, model.fit_transform(X)

    return run, lambda found: answer(*found)


# Kernel PCA and Nyström


def kernel_pca(data):
    from mercer import KernelPCA

    return _transforms(lambda: KernelPCA(20, kernel=_kernel(data)), data, _eigen_sum)


def sklearn_kernel_pca(solver):
    def make(data):
        from sklearn.decomposition import KernelPCA

        options = {"kernel": "rbf", "gamma": data["gamma"], "eigen_solver": solver, "random_state": 0}
        return _transforms(lambda: KernelPCA(20, **options), data, _eigen_sum)

    return make


def _eigen_sum(model, Z):
    return model.eigenvalues_.sum() / len(Z)


def landmark_features(data):
    from mercer import LandmarkMap

    return _transforms(lambda: LandmarkMap(_kernel(data), 500, random_state=0), data, _kernel_error(data))


def nystroem(data):
    from sklearn.kernel_approximation import Nystroem

    options = {"gamma": data["gamma"], "n_components": 500, "random_state": 0}
    return _transforms(lambda: Nystroem(**options), data, _kernel_error(data))


def _kernel_error(data):
    rows = np.random.default_rng(1).choice(len(data["X"]), 1000, replace=False)
    K = _kernel(data)(data["X"][rows])
    return lambda model, Z: np.linalg.norm(K - Z[rows] @ Z[rows].T) / np.linalg.norm(K)


def landmark_pca(data):
    from mercer import KernelPCA

    return _transforms(lambda: KernelPCA(10, kernel=_kernel(data), approx=500), data, _variance)


def nystroem_pca(data):
    from sklearn.decomposition import PCA
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline

    options = {"gamma": data["gamma"], "n_components": 500, "random_state": 0}
    return _transforms(lambda: make_pipeline(Nystroem(**options), PCA(10, random_state=0)), data, _variance)


def _variance(model, Z):
    return Z.var(axis=0).sum()


# One class, clusters, regression


def svdd(nu):
    def make(data):
        from mercer import SVDD

        options = {"kernel": _kernel(data), "approx": "exact", "cache_size": 200}  # libsvm's
        return _fits(lambda turn: SVDD(nu, **options), data, _supports)

    return make


def one_class_svm(nu):
    def make(data):
        from sklearn.svm import OneClassSVM

        return _fits(lambda turn: OneClassSVM(nu=nu, gamma=data["gamma"]), data, _supports)

    return make


def _supports(model):
    return len(model.support_)


def cmeans(data):
    from mercer import KernelCMeans

    options = {"kernel": _kernel(data), "approx": "exact", "n_init": 1}
    return _fits(lambda turn: KernelCMeans(10, random_state=turn, **options), data, _inertia(data))


def tslearn_cmeans(data):
    from tslearn.clustering import KernelKMeans

    options = {"kernel": "rbf", "kernel_params": {"gamma": data["gamma"]}, "n_init": 1, "max_iter": 300}
    return _fits(lambda turn: KernelKMeans(10, random_state=turn, **options), data, _inertia(data))


def _inertia(data):
    """Mean squared distance to the cluster mean, from labels alone; on at most 4 000 rows."""
    X = data["X"][:4000]
    K = _kernel(data)(X)

    def answer(model):
        one = np.eye(10)[model.labels_[: len(X)]]
        return 1.0 - np.sum(np.einsum("ik,ik->k", one, K @ one) / np.maximum(one.sum(axis=0), 1)) / len(X)

    return answer


def lssvm(approx):
    def make(data):
        from mercer import LSSVMRegressor

        options = {"bias": False, "kernel": _kernel(data), "approx": approx}
        return _fits(lambda turn: LSSVMRegressor(10.0, **options), data, _score(data), _target(data["X"]))

    return make


def kernel_ridge(data):
    from sklearn.kernel_ridge import KernelRidge

    options = {"alpha": 0.1, "kernel": "rbf", "gamma": data["gamma"]}
    return _fits(lambda turn: KernelRidge(**options), data, _score(data), _target(data["X"]))


def _target(X):
    return np.sin(X[:, 0]) + 0.5 * np.cos(X[:, 1] / 2)


def _score(data):
    X = data["X"][:1000]
    X = X + 0.3 * np.random.default_rng(2).standard_normal(X.shape)
    return lambda model: model.score(X, _target(X))


# Few labels


def few_label(method):
    def make(data):
        import mercer

        names = {"lssvm": "LSSVMClassifier", "ls_kpca": "LeastSquaresKPCA", "sgt": "SpectralGraphTransducer"}
        options = {} if method == "sgt" else {"kernel": mercer.RBF.from_gamma(data["sharp"]), "approx": 300}
        return _fits(lambda turn: getattr(mercer, names[method])(**options), data, _error(data), data["given"])

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
        return _fits(lambda turn: made(), data, _error(data), data["given"])

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
    fit, _ = _fits(_searches(data, n_restarts=5), data, None, data["given"])

    def run(turn):
        model = fit(turn)
        return model, {"seconds": 1.0 / model.result_.info["evaluations_per_second"]}

    return run, lambda found: found[0].result_.objective


def naive_evaluation(data):
    """The paper's O(n²) evaluation: c = D G D y and the objective at it, with K and G = (D K D + λI)⁻¹ at hand."""
    X, lam, labelled = data["X"], data["lam"], data["given"] >= 0
    d = np.where(labelled, 1 / np.sqrt(labelled.sum()), 1 / np.sqrt((~labelled).sum()))
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
    return lambda data: _fits(
        _searches(data, n_restarts=50, search=kind), data, lambda model: model.result_.objective, data["given"]
    )
