"""Build the documentation site without a network, warnings as errors, and check every link in it.

    python docs/build.py [--quick] [--out build/docs]

The pages are those of docs/, the result pages of benchmarks/, the change log, the examples of examples/gallery with
their pictures, and pages that `generate` makes from the code. --quick runs no example and draws no picture: all pages
and links are checked in less than a minute. The site is OUT/html.
"""

import argparse
import os
import re
import shutil
from pathlib import Path

import generate
from links import broken

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent

# Where a Markdown link of the tree leads on the site: (files, pattern, replacement).
MENDED = [
    ("docs", r"\]\(\.\./\.\./benchmarks/results/", "]("),
    ("docs", r"\]\(\.\./benchmarks/results/", "](results/"),
    ("docs", r"\]\(\.\./CHANGELOG\.md", "](changelog.md"),
    ("docs", r"\]\(\.\./CONTRIBUTING\.md", "](contributing.md"),
    ("docs", r"\]\(\.\./SECURITY\.md", "](security.md"),
    ("results", r"\]\(\.\./\.\./docs/", "](../"),
    ("results", r"\[([^\]]+)\]\(\.\./[^)]+\.py\)", r"\1"),  # scripts are not on the site
    ("root", r"\]\(docs/", "]("),
    ("root", r"\]\(benchmarks/results/", "](results/"),
]

KEPT = re.compile(r"(?<=\d) (?=\d{3}\b|%)")  # a space in a table that no line may end at: 4,000, 95%


def put(path, text):
    """Write a text where it is new, so that sphinx reads only what has changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def published():
    """Names of the result pages on the site: those that docs/results/index.md links to. The others are in the tree."""
    return set(re.findall(r"benchmarks/results/(\w+)\.md", (DOCS / "results" / "index.md").read_text()))


def unlinked(text):
    """The text without links to result pages that are not on the site."""
    pattern = r"\[([^\]]+)\]\((?:\.\./)*(?:benchmarks/results/)?(\w+)\.md(?:#[\w-]*)?\)"
    names = {page.stem for page in (ROOT / "benchmarks" / "results").glob("*.md")} - published()
    return re.sub(pattern, lambda found: found[1] if found[2] in names else found[0], text)


def mended(kind, page):
    text = unlinked(page.read_text())
    for where, pattern, replacement in MENDED:
        if where == kind:
            text = re.sub(pattern, replacement, text)
    text = re.sub(r"^\|.*$", lambda row: KEPT.sub("\u00a0", row[0]), text, flags=re.M)
    return text if text.startswith("# ") else f"# {page.stem.replace('_', ' ').capitalize()}\n\n{text}"


def concepts():
    """The page concepts.md, with every page of docs/ that no table of contents names added to its own."""
    text = mended("docs", DOCS / "concepts.md")
    listed = re.findall(r"\{toctree\}.*?```", "".join(page.read_text() for page in DOCS.glob("*.md")), re.S)
    named = set(re.findall(r"[\w./-]+", " ".join(listed))) | {"index", "methods", "scoreboard"}
    others = sorted({page.stem for page in DOCS.glob("*.md")} - named)
    return "\n".join([text.rstrip().removesuffix("```").rstrip(), *others, "```", ""])


def lay_out(source, quick):
    """Write the sources of the site into the folder `source`."""
    for path in sorted(DOCS.rglob("*")):
        target = source / path.relative_to(DOCS)
        if path.suffix == ".md":
            put(target, concepts() if path.name == "concepts.md" else mended("docs", path))
        elif path.suffix in {".py", ".css"} and "__pycache__" not in path.parts:
            put(target, path.read_text())
        elif path.suffix == ".png":
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
    for name in sorted(published()):
        put(source / "results" / f"{name}.md", mended("results", ROOT / "benchmarks" / "results" / f"{name}.md"))
    for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY"):
        put(source / f"{name.lower()}.md", mended("root", ROOT / f"{name}.md"))
    shutil.copy2(ROOT / "src" / "mercer" / "studio" / "page" / "icon.svg", source / "_static")
    shutil.copytree(ROOT / "examples" / "gallery", source / "examples", dirs_exist_ok=True)
    for name, text in generate.pages(pictures=not quick).items():
        put(source / name, text)
    if not quick:
        from method_pictures import draw_all

        draw_all(source / "api" / "img")


def for_agents():
    """llms.txt: what the package is and where each page is, for programs that read the documentation."""
    home = (DOCS / "index.md").read_text(encoding="utf-8")
    summary = re.search(r"\*\*(.+?)\*\*(.+?)\n\n", home, re.S)
    lines = ["# mercer", "", "> " + " ".join((summary[1] + summary[2]).split()), ""]
    for part in ("get-started", "how-to", "concepts", "reference", "results/index", "project"):
        page = (DOCS / f"{part}.md").read_text(encoding="utf-8")
        lines += [f"## {page.splitlines()[0].lstrip('# ')}", ""]
        for first, second in re.findall(r"^\| (.+?) \| (.+?) \|$", page, re.M):
            link, text = (first, second) if "](" in first else (second, first)
            if found := re.match(r"\[(.+?)\]\((?:\.\./)*(.+?)\.md\)", link):
                page = found[2].replace("benchmarks/", "").lower() if "results/" in found[2] else found[2].lower()
                lines.append(f"- [{found[1]}]({page}.html): {text}")
        lines.append("")
    lines += ["## API", "", "- [All public names](api/index.html): classes and functions with their parameters", ""]
    return "\n".join(lines)


def build(out, quick=False):
    """Build the site in the folder `out` and return the links that lead nowhere."""
    from sphinx.cmd.build import main

    source, html = out / "source", out / "html"
    lay_out(source, quick)
    os.environ["MERCER_DOCS_QUICK"] = "1" if quick else ""
    code = main(["-q", "-W", "--keep-going", "-d", str(out / "doctrees"), str(source), str(html)])
    if code:
        raise SystemExit(f"The site was not built: sphinx ended with {code}.")
    put(html / "llms.txt", for_agents())
    return broken(html)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="run no example and draw no picture")
    parser.add_argument("--out", type=Path, help="folder to build in (build/docs, or build/docs-quick)")
    options = parser.parse_args()
    out = (options.out or ROOT / "build" / ("docs-quick" if options.quick else "docs")).resolve()
    dead = build(out, options.quick)
    print("\n".join(dead))
    if dead:
        raise SystemExit(f"{len(dead)} links lead nowhere.")
    print(f"{out / 'html' / 'index.html'}: {len(list((out / 'html').rglob('*.html')))} pages, all links lead somewhere")
