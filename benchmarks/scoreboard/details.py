"""benchmarks/results/scoreboard_details.md: what maintainers need and users do not, from the same CSV files."""

from .tables import read


def details():
    """The paragraphs of the page."""
    yield "# Details of the scoreboard"
    yield "For maintainers. `python -m benchmarks.scoreboard --report` writes this page and docs/scoreboard.md."
    rows = read("accuracy")
    if rows:
        from .accuracy import table

        yield "## Errors on the sets of Alaíz et al."
        yield (
            f"Mean error in % over {rows[0]['draws']} draws of 2% and of 10% of the labels. Every class has "
            "at least one label."
        )
        yield table(rows)
    for name, title in (("profiles", "How far from the machine's limit"), ("threads", "Threads by shape")):
        rows = read(name)
        if rows:
            from importlib import import_module

            yield f"## {title}"
            yield from import_module(f".{name}", __package__).page(rows)
