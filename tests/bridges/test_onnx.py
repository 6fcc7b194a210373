"""Models as ONNX graphs, for which onnxruntime predicts the same as Python for new rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale

import mercer
from mercer import (
    RBF,
    SVDD,
    Callable,
    ChiSquared,
    Cosine,
    Diffusion,
    Exponential,
    FewLabelClassifier,
    FewLabelRegressor,
    Forest,
    FourierMap,
    InputError,
    KernelCMeans,
    KernelDensityNovelty,
    KernelPCA,
    KPCANovelty,
    LandmarkMap,
    Laplacian,
    LeastSquaresKPCA,
    Linear,
    LogisticKPCA,
    LSSVMClassifier,
    LSSVMRegressor,
    Matern32,
    Matern52,
    MaxMarginClustering,
    MinimumVarianceKPCA,
    Polynomial,
    RLSClassifier,
    RobustKernelPCA,
    S2RLSClassifier,
    SemiKPCA,
    Sigmoid,
    SparseKernelPCA,
    SpectralGraphTransducer,
)
from mercer.kernels import Radial

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

METHODS = ("predict", "predict_proba", "decision_function", "transform", "score_samples")


@pytest.fixture(scope="module")
def wine():
    """(training rows, three classes for a fifth of them, new rows, some of them far away)."""
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    rng = np.random.default_rng(0)
    new = np.vstack([X[1::3] + rng.normal(scale=0.3, size=X[1::3].shape), 3 * X[:5], 40 * X[:3]])
    return X, np.where(np.arange(len(y)) % 5 == 0, y, -1), new


def run(model, X, dtype=np.float64):
    """Outputs of onnxruntime for the model's graph, by method."""
    graph = mercer.to_onnx(model, dtype)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    inputs = session.get_inputs()
    if [one.name for one in inputs] == ["X"]:
        return dict(zip(names, session.run(None, {"X": np.asarray(X, dtype=dtype)})))
    return dict(zip(names, session.run(None, {one.name: column(X[one.name], one.type, dtype) for one in inputs})))


def column(values, kind, dtype):
    """(n, 1) a column as the graph takes it."""
    values = values.astype(dtype) if kind != "tensor(string)" else values.fillna("").astype(str).str.strip()
    return values.to_numpy()[:, None]


def agree(model, X, atol=1e-5):
    found = run(model, X)
    offered = {name for name in METHODS if hasattr(model, name)}
    assert set(found) == offered or {"score_samples"} == offered - set(found)
    for name, answer in found.items():
        wanted = np.asarray(getattr(model, name)(X))
        assert answer.shape == wanted.shape, name
        if wanted.dtype.kind == "f":
            size = max(1.0, float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)))
            np.testing.assert_allclose(answer, wanted, rtol=0, atol=atol * size, err_msg=name)
        else:
            np.testing.assert_array_equal(answer.astype(wanted.dtype), wanted, err_msg=name)


CLASSIFIERS = [
    LSSVMClassifier(),
    LSSVMClassifier(unlabeled="zero", kernel=Matern52(3.0)),
    RLSClassifier(kernel=Exponential()),
    SemiKPCA(),
    SemiKPCA(approx=40),
    LeastSquaresKPCA(kernel=Matern32()),
    LogisticKPCA(kernel=0.5 * RBF() + 0.1 * Linear()),
    S2RLSClassifier(n_restarts=2),
    LSSVMClassifier(kernel=Laplacian()),
    LSSVMClassifier(kernel=Forest(50)),
    LSSVMClassifier(approx=FourierMap(n_features=40)),
    LSSVMClassifier(kernel=Diffusion(n_neighbors=8)),
    LSSVMClassifier(kernel=0.3 * RBF() + 0.7 * Diffusion(n_neighbors=8)),
    SpectralGraphTransducer(),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_classifiers(model, wine):
    X, y, new = wine
    agree(model.fit(X, y), new)
    names = np.where(y < 0, "", np.array(["red", "white", "rosé"])[np.maximum(y, 0)])
    names[y == 2] = ""
    agree(model.fit(X, names), new)  # two classes, one column of scores, text


@pytest.mark.parametrize(
    "model",
    [
        SVDD(0.2),
        SVDD(0.2, kernel=Polynomial(2)),
        SVDD(0.2, approx=50),
        SVDD(0.2, kernel=Linear() + RBF()),
        KPCANovelty(5),
        KPCANovelty(4, kernel=Linear()),
        KernelDensityNovelty(),
        KernelDensityNovelty(approx=100),
        KernelPCA(4, kernel="rbf"),
        KernelPCA(3, kernel=Cosine()),
        KernelPCA(3, kernel=RBF(), approx=60),
        KernelPCA(3, kernel=Polynomial(3, 1.0, 0.01) * RBF(8.0)),
        RobustKernelPCA(2),
        SparseKernelPCA(2, epsilon=0.1),
        MinimumVarianceKPCA(3),
        KernelCMeans(4, random_state=0),
        KernelCMeans(4, kernel=Linear(), random_state=0),
        MaxMarginClustering(2, random_state=0),
        MaxMarginClustering(3, random_state=0),
        LandmarkMap("rbf", 20),
        FourierMap("rbf", 20),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore")
def test_models_without_labels(model, wine):
    X, _, new = wine
    agree(model.fit(X), new[:-3])


@pytest.mark.filterwarnings("ignore")
def test_indefinite_and_weighted(wine):
    X, _, new = wine
    agree(SVDD(0.2, kernel=Sigmoid(1 / 13, 0.0)).fit(X), new[:-3])
    agree(KernelDensityNovelty().fit(X, sample_weight=1.0 + np.arange(len(X)) % 3), new)
    counts = load_iris().data
    agree(KernelPCA(3, kernel=ChiSquared()).fit(counts[::2]), counts[1::2])


def test_rows_of_a_kernel_matrix(wine):
    X, y, new = wine
    kernel = RBF(4.0)
    agree(LSSVMClassifier(kernel="precomputed").fit(kernel(X), y), kernel(new, X))


def test_numbers(wine):
    X, _, new = wine
    y = X @ np.arange(13) / 10 + np.sin(X[:, 0])
    for model in (LSSVMRegressor(10.0), LSSVMRegressor(10.0, approx=60), LSSVMRegressor(kernel="linear")):
        agree(model.fit(X, y), new)


def test_a_user_s_radial_kernel_is_translated_from_its_profile(wine):
    class Cauchy(Radial):
        def profile(self, squared, xp):
            squared += 1.0
            squared **= -1.0
            return squared

    X, y, new = wine
    agree(LSSVMClassifier(kernel=Cauchy(3.0)).fit(X, y), new)


@pytest.mark.parametrize("compact", [False, True])
def test_the_few_label_classifier(wine, compact):
    X, y, new = wine
    model = FewLabelClassifier().fit(X, y)
    assert {part.view.name for part in model.answers_.fit.predictor.parts} and model.answers_.fit.predictor.forests
    agree(model.compact() if compact else model, new)


@pytest.mark.parametrize("methods", [["diffusion", "sgt"], ["lssvm"], ["forest"], ["components", "mixed"]])
def test_two_classes_and_single_methods(wine, methods):
    X, y, new = wine
    two = np.where(y == 2, -1, y)
    agree(FewLabelClassifier(methods, prior="estimate").fit(X, two), new)


def test_abstained_rows_have_a_mark(wine):
    X, y, new = wine
    model = FewLabelClassifier(["lssvm"], abstain=0.7).fit(X, y)
    assert (model.predict(new) == -1).any()
    agree(model, new)
    agree(FewLabelClassifier(["lssvm"], abstain=0.7).fit(X, np.array(["", "a", "b", "c"])[y + 1]), new)


def test_few_numbers(wine):
    X, _, new = wine
    y = np.where(np.arange(len(X)) % 4 == 0, X[:, 0] * X[:, 1] + X[:, 2], np.nan)
    agree(FewLabelRegressor().fit(X, y), new)


def test_training_rows_are_their_own_neighbors(wine):
    X, y, _ = wine
    agree(LSSVMClassifier(kernel=Diffusion(n_neighbors=5)).fit(X, y), X)


def test_sparse_training_rows(wine):
    X, y, _ = wine
    rows = np.maximum(X, 0)
    agree(FewLabelClassifier(["lssvm", "diffusion"]).fit(sp.csr_matrix(rows), y), rows)


def test_single_precision_at_the_door(wine):
    X, y, new = wine
    model = FewLabelClassifier().fit(X, y)
    rows = new.astype(np.float32)
    found = run(model, rows, np.float32)
    assert found["predict_proba"].dtype == np.float32
    np.testing.assert_allclose(found["predict_proba"], model.predict_proba(rows.astype(np.float64)), atol=1e-5)


def test_what_has_no_graph_is_refused_in_a_sentence(wine):
    pd = pytest.importorskip("pandas")
    X, y, _ = wine
    with pytest.raises(InputError, match="is a Python function, which cannot be exported to ONNX"):
        mercer.to_onnx(LSSVMClassifier(kernel=Callable(lambda a, b: float(a @ b))).fit(X, y))
    with pytest.raises(InputError, match="uniform window"):
        mercer.to_onnx(KernelDensityNovelty(window="uniform").fit(X))
    frame = pd.DataFrame({"a": X[:, 0], "day": pd.date_range("2024-01-01", periods=len(X))})
    with pytest.raises(
        InputError, match="Column .day. is read as date, which cannot be exported to ONNX.*TableEncoder"
    ):
        mercer.to_onnx(FewLabelClassifier(["lssvm"]).fit(frame, y))
    frame = pd.DataFrame({"predict": X[:, 0], "color": np.where(X[:, 1] > 0, "red", "blue")})
    with pytest.raises(InputError, match="A column is called 'predict'"):
        mercer.to_onnx(FewLabelClassifier(["lssvm"]).fit(frame, y))
    with pytest.raises(InputError, match="float64 or numpy.float32"):
        mercer.to_onnx(LSSVMClassifier().fit(X, y), int)
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(InputError, match="LogisticRegression cannot be exported to ONNX"):
        mercer.to_onnx(LogisticRegression().fit(X, y))


@pytest.fixture(scope="module")
def sales():
    """A frame with every kind of column that a graph can read, gaps, and new rows with words never seen."""
    pd, rng, n = pytest.importorskip("pandas"), np.random.default_rng(4), 160
    half = np.arange(n) < n // 2
    frame = pd.DataFrame(
        {
            "size": np.where(half, 1.0, 3.0) + rng.normal(scale=0.4, size=n),
            "price": np.exp(rng.normal(size=n) * 1.5),
            "color": np.where(half, "red", np.where(rng.random(n) < 0.5, "blue", "green")),
            "member": np.where(rng.random(n) < 0.3, "Yes", "no"),
            "quality": rng.choice(["low", "medium", "high"], n),
            "rooms": rng.integers(1, 6, n),
            "value 1 of mercer": rng.random(n),
        }
    )
    frame.loc[::7, "size"] = np.nan
    frame.loc[::9, "color"] = None
    y = np.where(np.arange(n) % 8 == 0, np.where(half, "cheap", "dear"), "")
    new = frame.iloc[::3].copy()
    new.loc[new.index[:4], "color"] = ["violet", "n/a", "red", ""]
    new.loc[new.index[:3], "quality"] = ["HIGH", "unheard of", "Low"]
    new.loc[new.index[:3], "member"] = ["YES", "true", "n"]
    new.loc[new.index[5:7], "rooms"] = [9, 2]
    return frame.rename(columns={"value 1 of mercer": "v1"}), y, new.rename(columns={"value 1 of mercer": "v1"})


@pytest.mark.filterwarnings("ignore")
def test_a_data_frame_has_an_input_for_every_column(sales):
    frame, y, new = sales
    model = FewLabelClassifier(["lssvm", "diffusion", "forest"]).fit(frame, y)
    kinds = {one.name: one.kind for one in model.encoder_.columns_}
    assert kinds["quality"] == "ordered" and kinds["rooms"] == "ordered" and kinds["color"] == "category"
    assert any(encoder.step for encoder in model.encoder_.encoders_ if encoder.name == "price")
    agree(model, new)
    inputs = {one.name for one in mercer.to_onnx(model).graph.input}
    assert inputs == set(frame.columns)
    numbers = new.select_dtypes("number").columns
    rounded = new.assign(**new[numbers].astype(np.float32).astype(np.float64))
    found = run(model, rounded, np.float32)
    np.testing.assert_allclose(found["predict_proba"], model.predict_proba(rounded), atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_a_frame_of_numbers_in_one_unit_is_one_matrix(wine):
    pd = pytest.importorskip("pandas")
    X, y, new = wine
    names = [f"c {i}" for i in range(X.shape[1])]
    model = FewLabelClassifier(["lssvm"]).fit(pd.DataFrame(X, columns=names), y)
    if model.encoder_ is None:
        assert [one.name for one in mercer.to_onnx(model).graph.input] == ["X"]
    agree(model, pd.DataFrame(new, columns=names))


@pytest.mark.filterwarnings("ignore")
def test_what_the_command_saves_is_exported(sales, tmp_path):
    from mercer.inputs.tables import TableClassifier, TableEncoder, TableRegressor

    frame, y, new = sales
    encoder = TableEncoder().fit(frame)
    rows = encoder.transform(frame)
    model = TableClassifier(encoder, LSSVMClassifier().fit(rows, y), "kind", {})
    mercer.save(model, tmp_path / "m.mercer")
    model = mercer.load(tmp_path / "m.mercer")
    found = run(model, new)
    np.testing.assert_allclose(found["predict_proba"], model.predict_proba(new), atol=1e-5)
    np.testing.assert_array_equal(found["predict"], model.predict(new))
    numbers = np.where(y == "", np.nan, frame["price"])
    model = TableRegressor(encoder, FewLabelRegressor(["lssvm"]).fit(rows, numbers), "price")
    np.testing.assert_allclose(run(model, new)["predict"], model.predict(new), atol=1e-5 * np.nanmax(numbers))
