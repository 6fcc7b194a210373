"""A server of `mercer studio` in its own process, and a table to label, for the measurements."""

import json
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


def digits_table(folder, n, seed=0):
    """(path, true classes): n rows made of scikit-learn's digits, noisy copies of them beyond 1,797."""
    from sklearn.datasets import load_digits

    X, t = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))[:n] if n <= len(X) else rng.integers(0, len(X), n)
    X, t = X[rows], t[rows]
    if n > len(rows) or n > 1797:
        X = X + rng.normal(scale=1.5, size=X.shape)
    frame = pd.DataFrame(np.round(X, 3), columns=[f"pixel_{i}" for i in range(64)])
    frame.insert(0, "name", [f"digit {i + 1}" for i in range(n)])
    path = folder / f"digits_{n}.csv"
    frame.to_csv(path, index=False)
    return path, t


class Server:
    """`mercer studio` on a table; `seconds` to the printed address."""

    def __init__(self, path, target="digit"):
        begun = time.perf_counter()
        command = [sys.executable, "-m", "mercer", "studio", str(path), "--target", target, "--id", "name"]
        self.process = subprocess.Popen(
            [*command, "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
        )
        said = ""
        while "http://" not in said:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(self.process.communicate()[1])
            said += line
        self.base, self.lock = re.search(r"http://[^/]+", said).group(), Path(f"{path}.mercer") / "lock"
        self.http, self.begun = self.connect(), begun
        self.seconds = time.perf_counter() - begun

    @property
    def token(self):
        """Of the next address: each works once."""
        return json.loads(self.lock.read_text())["url"].partition("/?token=")[2]

    def connect(self):
        """A client with the cookie and the key."""
        http = httpx.Client(base_url=self.base, timeout=120)
        answer = http.get(f"/?token={self.token}", follow_redirects=False)
        http.headers["X-Mercer-Key"] = answer.headers["location"].partition("#")[2]
        return http

    def get(self, path):
        """JSON of a route."""
        return self.http.get(f"/api/{path}").json()

    def post(self, path, **body):
        """The answer to a request that changes something; it must be done."""
        answer = self.http.post(f"/api/{path}", json={"id": str(uuid.uuid4()), **body})
        if answer.status_code != 200:
            raise RuntimeError(answer.text)
        return answer.json()

    def classes(self, names):
        """Make sure that there are these classes."""
        known = {one["name"] for one in self.get("session")["classes"]}
        for name in names:
            if name not in known:
                self.post("class", op="add", name=name)

    def label(self, row, value, via="click"):
        """Give a row a label; the revision."""
        return self.post("label", rows=[int(row)], via=via, **{"class": int(value)})["rev"]

    def events(self, since=None):
        """(name, content) of the events, as they come, with the time."""
        with self.connect().stream("GET", "/api/events" + (f"?since={since}" if since else ""), timeout=600) as stream:
            name = ""
            for line in stream.iter_lines():
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    yield time.perf_counter(), name, json.loads(line[6:])

    def kill(self):
        """As the kernel does it."""
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def stop(self):
        """As a user does it."""
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)
