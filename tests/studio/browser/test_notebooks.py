"""`mercer.studio(frame)` in the notebooks themselves: the frame loads in JupyterLab and marimo, and labels arrive."""

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

CELL = """import mercer
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True, as_frame=True)
work = mercer.studio(X, "kind", folder="work", classes=["a", "b"])
work"""
MARIMO = f"""import marimo
app = marimo.App()
@app.cell
def _():
    {CELL.replace(chr(10), chr(10) + "    ")}
    return
if __name__ == "__main__":
    app.run()
"""
FRAME = 'iframe[title="mercer studio"]'


def served(command, port, folder):
    """A server that listens on a port."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}
    server = subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    )
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return server
        time.sleep(0.3)
    server.kill()
    raise AssertionError("the notebook's server did not start")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def label_in_frame(page, folder):
    """Label three rows in the frame by clicks; returns what the journal has."""
    page.wait_for_selector(FRAME)
    frame = page.frame_locator(FRAME)
    for k in range(3):
        frame.locator(".choice").nth(k % 2).wait_for()
        frame.locator(".choice").nth(k % 2).click()
        page.wait_for_timeout(800)
    frame.locator("#saved:has-text('Saved')").wait_for()
    events = [json.loads(line) for line in (folder / "work/frame.csv.mercer/journal.jsonl").read_text().splitlines()]
    return [event["to"] for event in events if event["op"] == "label"]


@pytest.mark.parametrize("name", ["jupyterlab", "marimo"])
def test_labels_arrive_from_the_frame_in_a_notebook(name, chromium, tmp_path):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    port = free_port()
    if name == "marimo":
        (tmp_path / "book.py").write_text(MARIMO)
        command = ["marimo", "run", "book.py", "--headless", "--port", str(port), "--no-token"]
    else:
        cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": CELL, "outputs": [], "execution_count": None}
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        book = {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
        (tmp_path / "book.ipynb").write_text(json.dumps(book))
        options = ["--no-browser", "--allow-root", f"--port={port}", "--ServerApp.token=", "--ServerApp.password="]
        command = ["jupyterlab", *options]
    server = served(command, port, tmp_path)
    try:
        page = chromium.new_page(viewport={"width": 1500, "height": 1100})
        page.set_default_timeout(120_000)
        if name == "marimo":
            page.goto(f"http://127.0.0.1:{port}/")
        else:
            page.goto(f"http://127.0.0.1:{port}/lab/tree/book.ipynb")
            page.wait_for_selector(".jp-Notebook .cm-content")
            page.wait_for_timeout(5000)
            page.click(".jp-Notebook .jp-InputArea-editor")
            page.keyboard.press("Shift+Enter")
        assert label_in_frame(page, tmp_path) == [0, 1, 0]
        page.close()
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()
