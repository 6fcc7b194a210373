"""pytest plugin of the environments without all extras: a test that needs an absent package of an extra is skipped.

Any other import error fails, as it should: `import mercer` and what it does with NumPy rows need no extra.
"""

import re
import tomllib
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAMES = {"pillow": "PIL", "pytest-xdist": "xdist", "axe-playwright-python": "axe_playwright_python", "mypy": "mypy"}
OPTIONAL = {
    NAMES.get(name, name.replace("-", "_"))
    for lines in PROJECT["optional-dependencies"].values()
    for name in (re.match(r"[\w-]+", line)[0] for line in lines)
} - {"mercer", "pytest"}


def absent(error):
    """The optional package that an error, or one behind it, misses."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] in OPTIONAL:
            return error.name
        found = re.search(r"needs the package '?(\w+)", str(error))
        if found and found[1] in OPTIONAL:
            return found[1]
        error = error.__cause__ or error.__context__
    return None


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makemodule(module_path, parent):
    module = yield
    load = module._getobj

    def importing():
        try:
            return load()
        except module.CollectError as error:
            lines = re.findall(r"No module named '(\w+)", str(error))
            if lines and lines[-1] in OPTIONAL:
                pytest.skip(f"{lines[-1]} is not installed", allow_module_level=True)
            raise

    module._getobj = importing
    return module


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    name = absent(call.excinfo.value) if report.failed and call.excinfo else None
    if name:
        report.outcome, report.longrepr = "skipped", (str(item.path), 0, f"Skipped: {name} is not installed")
    return report
