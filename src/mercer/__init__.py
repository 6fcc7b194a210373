"""Kernel methods for data with few or no labels.

Everything a user needs is importable from here. Modules load when a name is first used, so `import mercer` is fast.
"""

import importlib

__version__ = "0.1.0"

#: Public name → module of this package that defines it.
exports = {
    name: module
    for module, names in {
        "inputs.tables": "TableEncoder",
        "kernels": "RBF Laplacian Exponential Matern32 Matern52 Linear Polynomial Cosine Sigmoid Precomputed Callable",
        "kernels.base": "Kernel",
        "kernels.chi2": "AdditiveChiSquared ChiSquared",
        "kernels.forest": "Forest",
        "kernels.strings": "Spectrum Mismatch",
        "kernels.sets": "Jaccard MinMax",
        "kernels.labeled_graphs": "WeisfeilerLehman",
        "kernels.bandwidth": "bandwidth_of",
        "kernels.graph": "Diffusion GraphLaplacian",
        "geometry.maps": "LandmarkMap FourierMap",
        "geometry.operators": "KernelOperator",
        "estimators.kernel_pca": "KernelPCA",
        "estimators.robust_kernel_pca": "RobustKernelPCA",
        "estimators.sparse_kernel_pca": "SparseKernelPCA",
        "estimators.proximal_kernel_pca": "ProximalKernelPCA",
        "estimators.lssvm": "LSSVMClassifier",
        "estimators.lssvm_regressor": "LSSVMRegressor",
        "estimators.rls": "RLSClassifier",
        "estimators.semi_kpca": "SemiKPCA",
        "estimators.minimum_variance_kpca": "MinimumVarianceKPCA",
        "estimators.within_variance": "WithinVarianceClassifier",
        "estimators.least_squares_kpca": "LeastSquaresKPCA",
        "estimators.logistic_kpca": "LogisticKPCA",
        "estimators.tangents": "ImageShifts",
        "estimators.few_numbers": "SemiKPCARegressor LeastSquaresKPCARegressor",
        "estimators.spectral_graph_transducer": "SpectralGraphTransducer",
        "estimators.s2rls": "S2RLSClassifier",
        "estimators.transductive_svm": "TransductiveSVMClassifier",
        "estimators.max_margin_clustering": "MaxMarginClustering",
        "estimators.svdd": "SVDD",
        "estimators.kernel_density_novelty": "KernelDensityNovelty",
        "estimators.kpca_novelty": "KPCANovelty",
        "estimators.outlier_detector": "OutlierDetector",
        "estimators.kernel_cmeans": "KernelCMeans",
        "estimators.kernel_spectral_clustering": "KernelSpectralClustering",
        "model_selection.risk": "risk_bound",
        "model_selection.mixed_kernel": "select_mixed_kernel",
        "io": "save load register",
        "bridges.onnx": "to_onnx",
        "few_label.classifier": "FewLabelClassifier",
        "few_label.regressor": "FewLabelRegressor",
        "model_selection.split": "LabeledKFold RepeatedLabeledKFold LeaveOneLabelOut LabeledScorer",
        "advice.suggest": "suggest",
        "advice.stop": "expected_change",
        "advice.accept": "accept",
        "advice.audit": "audit",
        "advice.suspicious": "suspicious",
        "advice.doubt": "doubt",
        "advice.unseen": "unseen_rows",
        "studio.notebook": "studio",
        "advice.unusual": "unusual",
        "backend": "to_device use_device",
        "errors": "InputError NotInductiveError BackendError NotConverged",
    }.items()
    for name in names.split()
}

__all__ = sorted(exports)


def __getattr__(name):
    if name not in exports:
        raise AttributeError(f"mercer has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{exports[name]}", __name__), name)
    importlib.import_module(".docstrings", __name__).document(value)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(exports))
