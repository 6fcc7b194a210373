"""Play one session of `mercer studio --demo` in chromium and write the six pictures of docs/studio.md beside this file.

    python docs/studio/pictures.py

It needs playwright, the system's chromium and pillow. The person at the keys is simulated: it knows the digits, and
gives one wrong label on purpose.
"""

import io
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits

HERE = Path(__file__).parent
TRUTH = load_digits().target


class Player:
    """A simulated person in front of the page."""

    def __init__(self, page):
        self.page = page

    def picture(self, name):
        """The page in 256 colours, in which rare colours have their say: small, and no different to the eye."""
        self.page.mouse.move(700, 8)
        self.page.wait_for_timeout(600)
        image = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        colours, counts = np.unique(np.asarray(image).reshape(-1, 3), axis=0, return_counts=True)
        # The marks of the classes and all grounds, as they are.
        large = ((np.ptp(colours.astype(int), axis=1) > 40) & (counts >= 20)) | (counts >= 2000)
        exact = colours[large][np.argsort(-counts[large])][:128]
        sample = np.repeat(colours, np.ceil(np.sqrt(counts)).astype(int), axis=0)
        others = Image.fromarray(sample[None].astype(np.uint8)).quantize(256 - len(exact), Image.Quantize.MEDIANCUT)
        palette = Image.new("P", (1, 1))
        palette.putpalette([*exact.ravel().tolist(), *others.getpalette()[: 3 * (256 - len(exact))]])
        image.quantize(palette=palette, dither=Image.Dither.NONE).save(HERE / f"{name}.png", optimize=True)

    def state(self, expression):
        return self.page.evaluate(
            f"async () => {{ const {{store}} = await import('/static/store.js'); return {expression}; }}"
        )

    def wait(self, expression):
        while not self.state(expression):
            self.page.wait_for_timeout(50)

    def settled(self):
        self.wait("store.waiting === 0")
        self.wait("store.stage.name === 'idle' && Number(document.documentElement.dataset.answerRev) >= store.rev")
        self.page.wait_for_timeout(1500)

    def label(self, count=1, wrong=0):
        for _ in range(count):
            self.wait(
                "store.current !== null && document.querySelector('#card').dataset.row === String(store.current.row)"
            )
            row = int(self.page.get_attribute("#card", "data-row"))
            self.page.keyboard.press(str((TRUTH[row] + wrong) % 10))

    def reached(self):
        return self.state("document.querySelector('#certified').hidden === false")

    def lasso(self, digit):
        """Draw around the open rows that are taken for a digit and lie where most of them lie."""
        box = self.page.locator("#over").bounding_box()
        corners = self.page.evaluate(
            "async id => { const {store} = await import('/static/store.js'); const x = [], y = [];"
            " for (let i = 0; i < store.n; i++) if (store.first[i] === id) { x.push(store.x[i]); y.push(store.y[i]); }"
            " const at = (v, q) => v.sort((a, b) => a - b)[Math.floor(q * v.length)];"
            " return [at(x, .04), at(y, .04), at(x, .96), at(y, .96)]; }",
            digit,
        )
        place = [
            (box["x"] + 18 + x / 65535 * (box["width"] - 36), box["y"] + 18 + (1 - y / 65535) * (box["height"] - 36))
            for x, y in ((corners[i], corners[j]) for i, j in ((0, 1), (2, 1), (2, 3), (0, 3), (0, 1)))
        ]
        self.page.keyboard.press("l")
        self.page.mouse.move(*place[0])
        self.page.mouse.down()
        for corner in place[1:]:
            self.page.mouse.move(*corner, steps=5)
        self.page.mouse.up()
        self.page.wait_for_selector("#sheet:not([hidden])")


def play(page):
    player = Player(page)
    player.wait("store.current !== null && store.x !== null")
    player.picture("1-start")
    player.label(3)
    player.settled()
    player.picture("2-first-answers")
    player.label(9)
    player.settled()
    for _ in range(10):  # a row that is not easy
        if player.state("store.current.via !== 'random' && store.sure[store.current.row] < 180"):
            break
        page.keyboard.press("j")
    page.wait_for_timeout(4000)  # the look-ahead is computed in idle time
    player.picture("3-question")
    player.label(12)
    player.settled()
    player.lasso(6)
    player.picture("4-lasso")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    player.label(wrong=1)
    player.label(20)
    player.settled()
    page.keyboard.press("r")
    page.wait_for_timeout(1000)
    player.picture("5-review")
    page.keyboard.press("Enter")
    page.click("#tab-next")
    while not player.reached():
        player.label(10)
        player.settled()
    page.click("#tab-accuracy")
    player.picture("6-certified")


def main():
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as p:
        command = [
            sys.executable,
            "-m",
            "mercer",
            "studio",
            folder + "/demo",
            "--demo",
            "--no-browser",
        ]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        url = next(found.group() for found in (re.search(r"http://\S+", line) for line in server.stdout) if found)
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(300_000)
        page.goto(url)
        page.wait_for_selector("html[data-ready]")
        try:
            play(page)
        finally:
            browser.close()
            server.send_signal(signal.SIGINT)
            server.wait(30)


if __name__ == "__main__":
    main()
