"""Play sessions of `mercer studio` in chromium and write the pictures of docs/studio.md next to this file.

    python docs/studio/pictures.py [table] [text] [image] [number]

It needs playwright, the system's chromium and pillow. The person at the keys is simulated: it knows the classes, and
gives one wrong label on purpose.
"""

import contextlib
import csv
import io
import random
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
from sklearn.datasets import load_digits, load_iris

HERE = Path(__file__).parent
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 780}
COLORS = 128
SENTENCES = {
    "delivery": (
        "The parcel came {} days late",
        "My order is lost after {} weeks",
        "The courier left it with {} dents",
    ),
    "billing": ("I was charged {} times", "The invoice shows {} wrong items", "My refund of {} euros is missing"),
    "praise": ("Great service, {} stars", "I ordered {} times and love it", "All {} questions were answered kindly"),
}
MORE = (
    "Please look into it.",
    "Thank you.",
    "I write for the second time.",
    "The app shows nothing.",
    "Best wishes, Kim.",
)


class Player:
    """A simulated person in front of the page, who knows the class of every row."""

    def __init__(self, page, truth):
        self.page, self.truth = page, truth

    def picture(self, name, scheme="light", size=WIDE):
        """The page in few colors, in which rare colors have their say: small, and no different to the eye."""
        self.page.emulate_media(color_scheme=scheme)
        self.page.set_viewport_size(size)
        self.page.mouse.move(size["width"] / 2, 8)
        self.page.wait_for_timeout(700)
        image = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        colors, counts = np.unique(np.asarray(image).reshape(-1, 3), axis=0, return_counts=True)
        # The marks of the classes and all grounds, as they are.
        large = ((np.ptp(colors.astype(int), axis=1) > 40) & (counts >= 40)) | (counts >= 2000)
        exact = colors[large][np.argsort(-counts[large])][: COLORS // 2]
        sample = np.repeat(colors, np.ceil(np.sqrt(counts)).astype(int), axis=0)
        others = Image.fromarray(sample[None].astype(np.uint8)).quantize(COLORS - len(exact), Image.Quantize.MEDIANCUT)
        palette = Image.new("P", (1, 1))
        palette.putpalette([*exact.ravel().tolist(), *others.getpalette()[: 3 * (COLORS - len(exact))]])
        image.quantize(palette=palette, dither=Image.Dither.NONE).save(HERE / f"{name}.png", optimize=True)
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size(WIDE)

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

    def add(self, names):
        self.page.click("#add-class")
        self.page.fill("#names", "\n".join(names))
        self.page.click("#names-add")
        self.wait(f"store.classes.length >= {len(names)}")
        self.page.evaluate("document.activeElement.blur()")

    def label(self, count=1, wrong=False):
        for _ in range(count):
            self.wait(
                "store.current !== null && document.querySelector('#card').dataset.row === String(store.current.row)"
            )
            name = self.truth[int(self.page.get_attribute("#card", "data-row"))]
            if wrong:
                name = next(one for one in sorted(set(self.truth)) if one != name)
            self.page.keyboard.press(self.page.inner_text(f".class-row:has(.name:text-is('{name}')) kbd"))

    def question(self, below=200):
        """Go to a row that is not easy."""
        for _ in range(25):
            if self.state(f"store.current.via !== 'random' && store.sure[store.current.row] < {below}"):
                break
            self.page.keyboard.press("j")
            self.page.wait_for_timeout(60)
        self.page.wait_for_timeout(3000)  # the look-ahead is computed in idle time

    def until_certified(self):
        while self.page.locator("#end").is_hidden():
            self.label(5)
            self.settled()

    def lasso(self, name):
        """Draw around the open rows that are taken for a class and are where most of them lie."""
        box = self.page.locator("#over").bounding_box()
        corners = self.page.evaluate(
            "async name => { const {store} = await import('/static/store.js'); const x = [], y = [];"
            " const id = store.classes.find(one => one.name === name).id;"
            " for (let i = 0; i < store.n; i++) if (store.first[i] === id) { x.push(store.x[i]); y.push(store.y[i]); }"
            " const at = (v, q) => v.sort((a, b) => a - b)[Math.floor(q * v.length)];"
            " return [at(x, .04), at(y, .04), at(x, .96), at(y, .96)]; }",
            name,
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


def table(open_page, folder):
    """A table of measurements: the first run, a question, the end."""
    X, y, names = load_iris().data, load_iris().target, load_iris().target_names
    order = np.random.default_rng(0).permutation(len(y))
    write(folder / "iris.csv", [*load_iris().feature_names, "species"], [[*X[i], ""] for i in order])
    with open_page("iris.csv", "--target", "species", "--goal", "0.85") as page:
        player = Player(page, [str(names[y[i]]) for i in order])
        player.wait("store.current !== null && store.x !== null")
        player.picture("1-first-run")
        player.add(list(map(str, names)))
        player.label(9)
        player.settled()
        player.question(245)
        player.picture("4-table")
        player.until_certified()
        player.picture("9-end")
        player.picture("9-end-phone", size=PHONE)


def text(open_page, folder):
    """Short texts: a question, the same without the map, and on a phone."""
    draw = random.Random(0)
    truth = [draw.choice(sorted(SENTENCES)) for _ in range(240)]
    texts = [
        f"{draw.choice(SENTENCES[kind]).format(draw.randint(2, 9))}. {' '.join(draw.sample(MORE, 2))}" for kind in truth
    ]
    write(folder / "mail.csv", ["message", "topic"], [[one, ""] for one in texts])
    with open_page("mail.csv", "--target", "topic", "--text", "message") as page:
        player = Player(page, truth)
        player.wait("store.current !== null && store.x !== null")
        player.add(SENTENCES)
        player.label(7)
        player.settled()
        player.question(254)
        player.picture("2-text")
        player.picture("2-text-phone", size=PHONE)
        page.keyboard.press("z")
        player.picture("5-focus-dark", scheme="dark")


def image(open_page, folder):
    """Handwritten digits: a question, a lasso, a list of rows, and labels to review."""
    with open_page("demo", "--demo") as page:
        player = Player(page, [str(digit) for digit in load_digits().target])
        player.wait("store.current !== null && store.x !== null")
        player.label(24)
        player.settled()
        player.question()
        player.picture("3-image")
        player.picture("3-image-dark", scheme="dark")
        player.lasso("6")
        player.picture("6-lasso")
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        page.evaluate(
            "async () => { const {store} = await import('/static/store.js'), {go} = await import('/static/actions.js');"
            " const open = row => store.given[row] === -1 && !store.hiddenGuess.has(row);"
            " go(store.sure.reduce((best, one, row) => open(row) && one > (store.sure[best] ?? 0) ? row : best, -1)); }"
        )
        player.label(wrong=True)
        player.label(20)
        player.settled()
        page.click(".class-row >> nth=3")
        page.wait_for_timeout(1500)
        player.picture("7-rows")
        page.click("#clear-filters")
        page.keyboard.press("r")
        page.wait_for_timeout(1000)
        player.picture("8-review")


def number(open_page, folder):
    """Prices of houses: a question with its prediction."""
    draw = np.random.default_rng(0)
    area, year = draw.gamma(6, 15, 240).round() + 25, draw.integers(1950, 2022, 240)
    city = draw.choice(["Bonn", "Graz", "Bern", "Lyon"], 240)
    factor = np.array([{"Bonn": 1.0, "Graz": 0.8, "Bern": 1.6, "Lyon": 1.1}[name] for name in city])
    price = (3000 * area * factor * (0.8 + (year - 1950) / 175) * np.exp(draw.normal(0, 0.05, 240))).round(-3)
    write(folder / "houses.csv", ["area", "city", "year", "price"], [[*row, ""] for row in zip(area, city, year)])
    with open_page("houses.csv", "--target", "price", "--as", "number", "--tolerance", "50000") as page:
        player = Player(page, price)
        player.wait("store.current !== null && store.x !== null")
        for _ in range(40):
            player.wait("document.querySelector('#card').dataset.row === String(store.current?.row)")
            page.keyboard.type(f"{price[int(page.get_attribute('#card', 'data-row'))]:.0f}")
            page.keyboard.press("Enter")
            if player.state("store.given.filter(one => one >= 0).length") % 5 == 0:
                player.settled()
        player.question()
        player.picture("10-number")


def write(path, head, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])


@contextlib.contextmanager
def served(browser, folder, *arguments):
    """A page of `mercer studio` with these arguments."""
    command = [sys.executable, "-m", "mercer", "studio", *arguments, "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder)
    url = next(found.group() for found in (re.search(r"http://\S+", line) for line in server.stdout) if found)
    page = browser.new_page(viewport=WIDE)
    page.set_default_timeout(300_000)
    page.goto(url)
    page.wait_for_selector("html[data-ready]")
    try:
        yield page
    finally:
        page.close()
        server.send_signal(signal.SIGINT)
        server.wait(30)


def main():
    wanted = sys.argv[1:] or ["table", "text", "image", "number"]
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        for play in (table, text, image, number):
            if play.__name__ in wanted:
                with tempfile.TemporaryDirectory() as folder:
                    play(lambda *arguments, at=folder: served(browser, at, *arguments), Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
