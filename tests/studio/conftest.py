"""A small table, a session without a server, and a server in its own process."""

import os
import re
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

SOURCE = str(Path(__file__).resolve().parents[2] / "src")


def iris(folder, labels=(), name="flowers.csv"):
    """(path, true classes): 120 flowers, of which the rows `labels` have their label in the file."""
    X, t = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(150)[:120]
    frame = pd.DataFrame(X[rows], columns=["sepal length", "sepal width", "petal length", "petal width"])
    frame.insert(0, "name", [f"flower {i + 1}" for i in range(120)])
    truth = np.array(["setosa", "versicolor", "virginica"])[t[rows]]
    frame["kind"] = np.where(np.isin(np.arange(120), labels), truth, "")
    path = Path(folder) / name
    frame.to_csv(path, index=False)
    return path, truth


def signed_in(http, token):
    """The client with the cookie and the key that an address gives."""
    answer = http.get(f"/?token={token}")
    assert answer.status_code == 303
    http.headers["X-Mercer-Key"] = answer.headers["location"].partition("#")[2]
    return http


class Client:
    """Talks to a server as the page does."""

    def __init__(self, http):
        self.http = http

    def get(self, path, **more):
        return self.http.get(f"/api/{path}", **more)

    def read(self, path):
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path, id=None, **body):
        return self.http.post(f"/api/{path}", json={"id": id or str(uuid.uuid4()), "tab": "test", **body})

    def do(self, path, **body):
        answer = self.post(path, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def label(self, rows, value, via="click", **more):
        return self.do("label", rows=[int(row) for row in np.atleast_1d(rows)], via=via, **{"class": value}, **more)[
            "rev"
        ]

    def until(self, what, seconds=120.0):
        """What a function returns once it is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = what()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"not within {seconds} s: {self.read('session')['stage']}")

    def ready(self):
        return self.until(lambda: self.read("session")["stage"]["name"] in ("idle", "stopped"))

    def answer(self, rev, tier="full"):
        """The answers for a revision, of a tier."""

        def there():
            found = self.get("answers")
            own = int(found.headers["x-mercer-rev"]) >= rev and found.headers["x-mercer-tier"] == tier
            return found if own else None

        return self.until(there)


class Process:
    """`mercer studio` in its own process."""

    def __init__(self, *arguments, **more):
        environment = os.environ | {"PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "mercer", "studio", *map(str, arguments), "--no-browser"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **more
        )
        self.said = ""
        while "http://" not in self.said:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(self.process.communicate()[1])
            self.said += line
        self.url = re.search(r"http://\S+", self.said).group()
        self.base, _, self.token = self.url.partition("/?token=")
        try:
            self.client = self.connect()
        except BaseException:
            self.kill()
            raise

    def connect(self):
        return Client(signed_in(httpx.Client(base_url=self.base, timeout=60, follow_redirects=False), self.token))

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def stop(self):
        """Ctrl-C; returns the exit code and what was printed since."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture
def started():
    """A function that starts servers, which are ended after the test."""
    running = []

    def start(*arguments, **more):
        running.append(Process(*arguments, **more))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.kill()


@pytest.fixture
def offline(tmp_path):
    """A function that opens a session without a learner, behind the guard; returns client, session."""
    from starlette.testclient import TestClient

    from mercer.studio.app import application
    from mercer.studio.security import Guard
    from mercer.studio.start import open_session

    opened = []

    def open_one(path=None, target="kind", **options):
        path = path or iris(tmp_path)[0]
        session = open_session(path, target, {"id": "name"} | options, {})
        guard = Guard(application(session), 8000)
        http = TestClient(guard, base_url="http://127.0.0.1:8000", follow_redirects=False)
        signed_in(http, guard.token)
        opened.append(session)
        return Client(http), session

    yield open_one
    for session in opened:
        session.close()
