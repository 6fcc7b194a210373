"""Address of the pages of this documentation, for the links that notebooks show next to an estimator."""

import os
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from .docstrings import complete


def site() -> str:
    """The address of the documentation, without a slash at its end. "" if none is known.

    The environment variable MERCER_DOCS comes first. Next is the address of the documentation in the metadata of the
    installed package, and last the site that `make docs` has built in this source tree.
    """
    given = os.environ.get("MERCER_DOCS", "")
    try:
        named = dict(line.split(", ", 1) for line in metadata("mercer").get_all("Project-URL") or [])
    except PackageNotFoundError:
        named = {}
    built = Path(__file__).parents[2] / "build" / "docs" / "html"
    local = built.as_uri() if (built / "index.html").exists() else ""
    return (given or named.get("Documentation", "") or local).rstrip("/")


class Documented:
    """An estimator whose HTML in notebooks links to its page of the documentation, if there is a site."""

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        complete(cls)

    def _get_doc_link(self) -> str:  # scikit-learn requests it
        own = type(self).__module__.split(".")[0] == "mercer"
        return f"{site()}/api/{type(self).__name__}.html" if own and site() else ""
