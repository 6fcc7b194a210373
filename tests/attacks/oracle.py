"""What must be true after a command, however hostile its input was."""

import html.parser
import json
import re

from . import formats

LONGEST = 300  # characters of a line on the screen
CODES = (0, 2, 3)  # done, wrong usage, unusable data
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_NUMBERLESS = re.compile(r"(?<![\w&])(?:nan|-?inf)(?![\w;])", re.IGNORECASE)
PROMISED = {
    "embed": lambda options, target: [f"component_{j + 1}" for j in range(int(options[options.index("-d") + 1]))],
    "cluster": lambda options, target: ["cluster"],
    "novelty": lambda options, target: ["novelty", "novel"],
}


def check_screen(done, options):
    """The exit code, and every line that was printed."""
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    said, errors = done.stdout, done.stderr
    last = errors.strip().splitlines()[-1:] or [""]
    assert done.exit_code in CODES, f"exit {done.exit_code}: {last[0]}"
    assert "Traceback" not in errors, errors
    assert (done.exit_code != 0) == any(line.startswith("mercer: ") for line in errors.split("\n")), f"said: {errors}"
    for line in errors.split("\n"):
        sentence = line.removeprefix("note: ").removeprefix("mercer: ")
        assert len(sentence) <= LONGEST, f"a line of {len(sentence)} characters: {line[:400]}"
    as_json = "--json" in options
    lines = errors if as_json else said + errors
    found = _CONTROL.search(lines.replace("\n", "").replace("\t", ""))
    assert not found, f"a control character is printed: {found[0]!r} in {lines[max(found.start() - 60, 0) :][:200]!r}"
    if as_json and done.exit_code == 0:
        json.loads(said, parse_constant=lambda word: _refuse(f"{word} in the JSON"))
    elif not as_json:
        for line in said.split("\n"):
            assert len(line) <= 2 * LONGEST or "\t" in line, f"a line of {len(line)} characters: {line[:400]}"


def _refuse(what):
    raise AssertionError(what)


def check_table(before, after, options, command, target, also):
    """Rows in order, cells unchanged, promised columns there and without gaps in their numbers.

    before, after : (names, columns); also : other names that the columns may have, made unique and not blank.
    """
    names, columns = before
    new_names, new_columns = ["" if name is None else name for name in after[0]], after[1]  # a blank cell of Excel
    names = ["" if name is None else name for name in names]
    rows, new_rows = (len(table[1][0]) if table[1] else 0 for table in (before, after))
    assert new_rows == rows, f"{rows} rows became {new_rows}"
    own = (f"{target}_predicted", f"{target}_confidence", f"{target}_source", f"{target}_how", f"{target}_set")
    own += (f"{target}_low", f"{target}_high", target)
    place = 0
    for name, cells, unique in zip(names, columns, also):
        if str(name).strip() in own or str(name).strip().startswith(f"{target}_probability_"):
            continue
        while place < len(new_names) and new_names[place] not in (name, unique):
            place += 1
        assert place < len(new_names), f"the column {name!r} is gone: {list(new_names)[:20]}"
        for i, (old, new) in enumerate(zip(cells, new_columns[place])):
            assert formats.same(old, new), f"row {i + 1} of {name[:60]!r}: {str(old)[:90]!r} became {str(new)[:90]!r}"
        place += 1
    found = dict(zip(new_names, new_columns))
    for name in promised(command, options, target, found):
        assert name in found, f"the column {name!r} is not there: {list(found)[-8:]}"
        if not name.endswith(("_predicted", "_set", "_how")):
            for cell in found[name]:
                assert not formats._gap(cell) and str(cell) not in ("nan", "inf", "-inf"), f"{name} holds {cell!r}"


def promised(command, options, target, found):
    if command in ("label", "predict"):
        target = target.strip()
        numbers = f"{target}_low" in found
        kinds = ("predicted", "low", "high", "source") if numbers else ("predicted", "confidence", "source")
        return [f"{target}_{kind}" for kind in kinds] + (
            [f"{target}_set"] if "--coverage" in options and not numbers else []
        )
    return PROMISED[command](options, target) if command in PROMISED else []


class _Page(html.parser.HTMLParser):
    """Everything in a page that could run or load."""

    def __init__(self):
        super().__init__()
        self.bad, self.text, self.policy, self._inside = [], [], False, ""

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        kind = "data" if tag == "script" and values.get("type") == "application/json" else tag
        self._inside = kind if kind in ("script", "style", "data") else self._inside
        self.policy |= values.get("http-equiv", "").lower() == "content-security-policy"
        for name, value in attributes:
            loads = name in ("src", "href", "action") and value and not value.startswith(("#", "data:"))
            if name.startswith("on") or loads:
                self.bad.append((tag, name, value))
        if tag in ("iframe", "object", "embed", "base", "link"):
            self.bad.append((tag, "", ""))

    def handle_endtag(self, tag):
        self._inside = "" if tag in ("script", "style") else self._inside

    def handle_data(self, data):
        if self._inside == "script" and "pwn()" in data:
            self.bad.append(("script", "", data[:80]))
        if not self._inside:
            self.text.append(data)


def check_page(page, innocent):
    """Nothing of the user's runs or loads, and no number is missing. `innocent` means that no cell is nan or inf."""
    parser = _Page()
    parser.feed(page)
    assert not parser.bad, f"the report would run or load {parser.bad[:3]}"
    assert parser.policy, "the report has no content security policy"
    assert page.rstrip().endswith("</html>"), "the report is cut off"
    if innocent:
        found = _NUMBERLESS.search(" ".join(parser.text))
        assert not found, f"the report says {' '.join(parser.text)[max(found.start() - 80, 0) :][:120]!r}"
