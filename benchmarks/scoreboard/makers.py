"""How each contender is set up: `make(data)` warms up and returns (run, answer).

`run(turn)` does the timed work and `answer(what run returned)` gives its value afterwards, untimed. Imports happen
inside, so that a process loads only its own contender.
"""

import numpy as np

SOME = 800  # rows of the warm-up


def _kernel(data):
    from mercer import RBF

    return RBF.from_gamma(data["gamma"])


def fits(make, data, answer, y=None):
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
        return fits(lambda turn: SVDD(nu, **options), data, _supports)

    return make


def one_class_svm(nu):
    def make(data):
        from sklearn.svm import OneClassSVM

        return fits(lambda turn: OneClassSVM(nu=nu, gamma=data["gamma"]), data, _supports)

    return make


def _supports(model):
    return len(model.support_)


def cmeans(data):
    from mercer import KernelCMeans

    options = {"kernel": _kernel(data), "approx": "exact", "n_init": 1}
    return fits(lambda turn: KernelCMeans(10, random_state=turn, **options), data, _inertia(data))


def tslearn_cmeans(data):
    from tslearn.clustering import KernelKMeans

    options = {"kernel": "rbf", "kernel_params": {"gamma": data["gamma"]}, "n_init": 1, "max_iter": 300}
    return fits(lambda turn: KernelKMeans(10, random_state=turn, **options), data, _inertia(data))


def _inertia(data):
    """Mean squared distance to the cluster mean, from labels alone; on at most 4,000 rows."""
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
        return fits(lambda turn: LSSVMRegressor(10.0, **options), data, _score(data), _target(data["X"]))

    return make


def kernel_ridge(data):
    from sklearn.kernel_ridge import KernelRidge

    options = {"alpha": 0.1, "kernel": "rbf", "gamma": data["gamma"]}
    return fits(lambda turn: KernelRidge(**options), data, _score(data), _target(data["X"]))


def _target(X):
    return np.sin(X[:, 0]) + 0.5 * np.cos(X[:, 1] / 2)


def _score(data):
    X = data["X"][:1000]
    X = X + 0.3 * np.random.default_rng(2).standard_normal(X.shape)
    return lambda model: model.score(X, _target(X))
