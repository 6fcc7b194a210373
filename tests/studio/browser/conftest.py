"""A server on a small table and tabs of a real browser: playwright with the system's chromium."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
from sklearn.datasets import make_blobs

from .acting import PATIENCE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
HOSTILE = "=cmd|' /C calc'!A0", "<img src=x onerror=alert(1)>", "<b>bold</b> & 12 roses"


class Server:
    """`mercer studio` on plants.csv of a folder; `url` is the address it printed."""

    def __init__(self, folder, X, y, *options):
        self.folder, self.X, self.y, self.options = folder, X, y, options or ("--target", "kind")
        self.start()

    def start(self):
        command = ["studio", "plants.csv", *self.options, "--id", "name", "--no-browser"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mercer", *command],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        lines = iter(self.process.stdout.readline, "")
        printed = next((found.group() for line in lines if (found := re.search(r"http://\S+", line))), None)
        assert printed, "the server ended before it printed its address"

    @property
    def url(self):
        """The next address: each works once."""
        return json.loads((self.folder / "plants.csv.mercer" / "lock").read_text())["url"]

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)


@pytest.fixture(scope="module")
def studio(tmp_path_factory, chromium):
    """A server on a table of three groups of rows, without any label or class."""
    pytest.importorskip("starlette", reason="the studio needs starlette and uvicorn")
    folder = tmp_path_factory.mktemp("studio")
    X, y = make_blobs(180, centers=[[0, 0, 0], [7, 1, 2], [1, 8, 3]], cluster_std=1.0, random_state=0)
    with open(folder / "plants.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["name", "height", "width", "weight", "note", "kind"])
        table.writerows([f"plant {i}", *(f"{v:.2f}" for v in x), HOSTILE[i % 3], ""] for i, x in enumerate(X))
    running = Server(folder, X, y)
    yield running
    running.end()


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
    if CHROMIUM is None:
        pytest.skip("the browser tests need chromium (apt install chromium)")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def tabs(studio, chromium):
    """Opens tabs of one browser profile; at the end nothing must have run that was not ours."""
    context, seen = chromium.new_context(viewport={"width": 1440, "height": 900}), []
    context.set_default_timeout(PATIENCE)
    context.on(
        "request",
        lambda request: (
            seen.append(request.url)
            if "//127.0.0.1:" not in request.url and not request.url.startswith("blob:http://127.0.0.1:")
            else None
        ),
    )
    context.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
    context.on("weberror", lambda error: seen.append(str(error.error)))
    context.on("console", lambda message: seen.append(message.text) if message.type == "error" else None)

    def open_tab(drawn=True):
        tab = context.new_page()
        tab.goto(studio.url)
        tab.wait_for_selector("html[data-ready]")
        if drawn:
            tab.wait_for_selector("#plot-empty", state="hidden")
        tab.evaluate("async () => { window.store = (await import('/static/store.js')).store; }")
        return tab

    opened = SimpleNamespace(open=open_tab, context=context, lossy=False)
    yield opened
    context.close()
    assert [text for text in seen if not (opened.lossy and text.startswith("Failed to load resource"))] == []


@pytest.fixture
def page(tabs):
    return tabs.open()
