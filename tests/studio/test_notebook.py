"""`mercer.studio(frame)`: labels and predictions as frames, the journal, and kernels that are killed."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import mercer
from mercer.errors import InputError

pytest.importorskip("starlette", reason="the studio needs starlette and uvicorn")


@pytest.fixture(scope="module")
def frame():
    X, y = load_iris(return_X_y=True, as_frame=True)
    found = X.assign(kind=pd.Series([None] * len(X), dtype=object)).set_index(
        pd.Index([f"f{i}" for i in range(len(X))])
    )
    return found, np.array(["setosa", "versicolor", "virginica"])[y]


def wait(what, seconds=120.0):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_labels_and_predictions_are_frames_while_it_runs_and_it_goes_on(frame, tmp_path):
    table, truth = frame
    kinds = ["setosa", "versicolor", "virginica"]
    with mercer.studio(table, "kind", folder=tmp_path, classes=kinds) as work:
        assert work.running and len(work.labels) == 0 and work.predictions["kind"].isna().all()
        rows = [*range(0, 150, 12)]
        for row in rows:
            work._read("label", {"rows": [row], "class": kinds.index(truth[row]), "via": "click"})
        assert work.labels.index.tolist() == [f"f{row}" for row in rows]
        assert work.labels["kind"].tolist() == truth[rows].tolist() and set(work.labels["via"]) == {"click"}
        wait(lambda: (work.predictions["source"] == "predicted").sum() == 150 - len(rows))
        found = work.predictions
        assert found.index.equals(table.index) and np.mean(found["kind"] == truth) > 0.85
        assert (found["confidence"].iloc[rows] == 1).all() and found["source"].iloc[0] == "given"
        assert work.accuracy["checks"] == 0 and not work.accuracy["reached"]
        wait(lambda: work._read("answers") and work.export().exists())
        assert pd.read_csv(work.export())["kind_predicted"].notna().all()
        page = work._repr_html_()
        assert "<iframe" in page and work.url in page and "#" in work.url
    assert not work.running and len(work.labels) == len(rows) and "iframe" not in work._repr_html_()
    with pytest.raises(InputError, match="stopped"):
        _ = work.predictions
    with mercer.studio(table, "kind", folder=tmp_path) as again:
        assert again.labels.equals(work.labels)
    assert list(table.columns) == list(frame[0].columns)  # the frame is not changed


def test_the_key_alone_opens_it_and_nothing_else_does(frame, tmp_path):
    with mercer.studio(frame[0], "kind", folder=tmp_path) as work:
        base = work.url.partition("#")[0]

        def status(path, **headers):
            try:
                with urllib.request.urlopen(urllib.request.Request(base + path, headers=headers)) as answer:
                    return answer.status, answer.headers
            except urllib.error.HTTPError as error:
                return error.code, error.headers

        key = {"X-Mercer-Key": work.url.partition("#")[2]}
        assert status("api/session", **key)[0] == 200 and status("api/session")[0] == 401
        assert status("api/session", **key, Origin="http://evil.example")[0] == 403
        assert status("api/session", **key, Host="evil.example")[0] == 421
        code, headers = status("", **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"})  # the frame itself
        assert code == 200 and "http://localhost:*" in headers["Content-Security-Policy"]
        assert "X-Frame-Options" not in headers and "frame-ancestors *" not in headers["Content-Security-Policy"]
        assert status("api/session", **key, **{"Sec-Fetch-Site": "cross-site"})[0] == 403


KERNEL = """
import sys, pandas as pd, mercer
work = mercer.studio(pd.read_csv("in.csv"), "kind", folder="work", classes=["a", "b"])
n = len(work.labels)
print(n, flush=True)
for row in range(n, 1000):
    work._read("label", {"rows": [row], "class": row % 2, "via": "click"})
    print("kept", row, flush=True)
"""


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_a_killed_kernel_loses_nothing(frame, tmp_path, kills):
    pd.concat([frame[0].drop(columns="kind")] * 7).to_csv(tmp_path / "in.csv", index=False)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    kept = 0
    for _ in range(kills):
        kernel = subprocess.Popen(
            [sys.executable, "-c", KERNEL], cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment
        )
        found = int(kernel.stdout.readline())
        assert found in (kept, kept + 1)  # the last label may have been written and not yet acknowledged
        kept = found
        for _ in range(5):
            assert kernel.stdout.readline() == f"kept {kept}\n"
            kept += 1
        kernel.send_signal(signal.SIGKILL)
        kept += kernel.stdout.read().count("kept")  # acknowledged before the signal arrived
        kernel.wait()
        kernel.stdout.close()


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda f: f.iloc[:0], "no rows"),
        (lambda f: f.rename(columns={"kind": 3}), "different names"),
        (lambda f: "none.csv", "There is no file"),
    ],
)
def test_what_is_no_frame_is_refused(frame, tmp_path, change, words):
    with pytest.raises(InputError, match=words):
        mercer.studio(change(frame[0]), "kind", folder=tmp_path)
    with pytest.raises(InputError, match="goal"):
        mercer.studio(frame[0], "kind", folder=tmp_path, goal=3)


def test_the_module_and_the_function_have_the_same_first_sentence():
    """`mercer.studio` is the module if it was imported before, and the function otherwise. Help shows either."""
    import mercer.studio
    from mercer.studio.notebook import studio

    assert mercer.studio.__doc__.splitlines()[0] == studio.__doc__.splitlines()[0]
