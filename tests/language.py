"""Count words and forms that mercer's prose avoids: documentation, docstrings, messages, result pages, examples.

    python tests/language.py [ROOT]

prints a table of the patterns in each body of text.
"""

import ast
import re
import sys
from pathlib import Path

# name → pattern. Code spans and fenced blocks are removed before
PATTERNS = {
    "say, tell": r"\b(?:says?|said|tells?|told)\b",
    "beside": r"\bbesides?\b",
    "answer": r"\banswer(?:s|ed|ing)?\b",
    "right": r"(?<!left and )(?<!left, )(?<!the )\bright\b(?! (?:hand|side|of|now|to left|child|end|column|singular))",
    "withheld, left out": r"\bwith(?:held|hold|holds|holding)\b|\bleft-out\b",
    "share": r"\bshares?\b",
    "hold": r"\bholds?\b|\bheld\b(?![- ]out)",
    "posture": r"\b(?:stands?|lies?|lives?)\b",
    "is no": r"(?<!here )\b(?:is|are) no\b(?! (?:longer|more|less|larger|smaller|better|other))",
    "1 777": r"(?<![\d.,])\d{1,3}(?: \d{3})+(?!\d)",
    "5 %": r"\d %",
    "British spelling": r"\b\w*(?:abell(?:ed|ing)|eighbour|colour|centre|favour|behaviour)\w*"
    r"|\b\w*(?:ard|al|im|ar|an|ctor|nd?om|bol)is(?:e|es|ed|ing|ation)\b",
    "private words": r"\b(?:homes?|rooms?|seams?|verbs?|tiers?|beneath|lesson)\b",
    "archaic": r"\b(?:mend(?:s|ed)?|anew|learnt|whoever|nobody|stranger|surer|likelier|honest(?:ly)?|upon|wherever)\b",
    "asked, met": r"\basked\b|\bnot met\b",
    "odd rows": r"\bodd rows?\b|\bodd one",
}
FORMS = {  # constructions rather than words. Rows of tables are not sentences and are removed before
    "where for if": r"\bwhere (?:the|an?|there|it|its|no|they|this|that|all|one|labels|other|rows|only)\b",
    "semicolons": r";(?=\s)",
    "colon splices": r"(?<=[a-z)]): (?=[a-z])",
    "N a M": r"\b(?:seconds?|minutes?|hours?|m?s|[GM]B|rows|frames|labels|fits|times|one) an? "
    r"(?:second|minute|hour|day|row|worker|fit|run|frame|class|label|core|cell|step|table|problem|set|line)\b",
    "we, our": r"\b(?:we|our|ours|us)\b",
}


def plain(text):
    """Prose without fenced blocks, code spans, links and options."""
    text = re.sub(r"```.*?```", " ", text, flags=re.S)
    text = re.sub(r"``.*?``|`[^`\n]*`", " ", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith((">>>", "...")))


def sentences(text):
    """The text without rows of tables."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("|"))


def docstrings(folder):
    """Docstrings of the modules in a folder."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                found = ast.get_docstring(node)
                if found:
                    yield found


def messages(folder):
    """Messages, help and report texts, which are strings with a space that are not docstrings."""
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
                first = node.body[0]
                if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                    known.add(id(first.value))
        for node in ast.walk(tree):
            own = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in known
            if own and len(node.value.split()) >= 3 and re.search(r"[a-z]{3} [a-z]", node.value):
                yield node.value
    for path in sorted(folder.rglob("*.html")):
        yield re.sub(
            r"<script.*?</script>|<style.*?</style>|<[^>]+>|\{[%{].*?[%}]\}", " ", path.read_text(), flags=re.S
        )


def bodies(root):
    """The five bodies of text by name."""
    pages = [root / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
    pages += sorted((root / "docs").glob("*.md"))
    results = [*sorted((root / "benchmarks" / "results").glob("*.md")), *(root / "docs").glob("scoreboard.md")]
    examples = root / "examples"
    return {
        "docs": "\n".join(plain(page.read_text(encoding="utf-8")) for page in pages if page.name != "scoreboard.md"),
        "results": "\n".join(plain(page.read_text(encoding="utf-8")) for page in results),
        "docstrings": "\n".join(map(plain, docstrings(root / "src"))),
        "messages": "\n".join(map(plain, messages(root / "src"))),
        "examples": "\n".join(map(plain, (*docstrings(examples), *messages(examples)))),
    }


def counts(root, patterns=PATTERNS):
    """Counts by pattern and body."""
    texts = bodies(root)
    if patterns is FORMS:
        texts = {body: sentences(text) for body, text in texts.items()}
    return {
        name: {body: len(re.findall(pattern, text, re.I)) for body, text in texts.items()}
        for name, pattern in patterns.items()
    }


if __name__ == "__main__":
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]
    table = counts(root) | counts(root, FORMS)
    names = list(next(iter(table.values())))
    print("| pattern | " + " | ".join(names) + " | all |\n|---" * 1 + "|---" * (len(names) + 1) + "|")
    for name, row in table.items():
        print(f"| {name} | " + " | ".join(str(row[body]) for body in names) + f" | {sum(row.values())} |")
