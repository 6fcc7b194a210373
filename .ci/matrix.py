"""Run the tests in other environments than the one of `make test`, each in build/matrix/NAME; write the result page.

    python .ci/matrix.py [NAME ...]

oldest : every package of `dependencies` and of the extras cli, studio, gpu and dask at its declared minimum, and onnx;
    the other bridges lead to packages that ask for newer ones than we do.
bare : without any extra. Tests that need a package of an extra are skipped; importing mercer and using it on NumPy rows
    must work, and the command must say what to install.
newest : everything as new as the index has it, with the newest interpreter here.
python3.X : the extras `test` and `cli` with another interpreter; one that is not here is named and left out.

Each runs CORE, tests that touch every package; with WHOLE=1 in the environment all tests of the library, that is all
but those of the tree itself (attacks, benchmarks, documentation, papers, peers, the page in a browser). KEEP=1 uses
environments that are there, JOBS=1 one process. The page is written after each environment. It ends with 1 if one of
them failed.
"""

import json
import os
import re
import subprocess
import sys
import time
import tomllib
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "matrix"
PAGE = ROOT / "benchmarks" / "results" / "matrix.md"
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
EXTRAS = ("cli", "studio", "gpu", "dask")
TOOLS = ("pytest", "pytest-timeout", "pytest-xdist", "hypothesis")
TREE = ("attacks", "benchmarks", "papers", "peers", "studio", "test_site.py", "test_docs.py", "test_package.py")
CORE = [
    *("kernels", "geometry/test_maps.py", "io", "bridges", "inputs/test_formats.py", "inputs/test_encoder.py"),
    *("estimators/test_robust_sparse.py", "few_label/test_core.py", "cli/test_usage.py"),
    *("test_degenerate.py", "test_extremes.py", "test_rows.py", "test_imports.py"),
]
SHOWN = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "pyarrow", "torch", "dask", "typer")


def oldest(extras=(*EXTRAS, "bridges")):
    """["numpy==2.1", ...]: the declared minimum of every package of `dependencies` and of these extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = project["optional-dependencies"]
    lines = project["dependencies"] + [line for name in extras for line in extra[name]]
    lines = [line for line in lines if not line.startswith("torch")]  # older builds bring several GB of GPU packages
    # The pinned torch; the newest polars needs a newer scikit-learn.
    lines += [line for line in extra["test"] if line.startswith(("polars", "torch"))]
    found = [re.match(r"([\w-]+)(?:\[.*\])?[>=]=([\d.]+)$", line) for line in lines]
    return sorted({f"{match[1]}=={match[2]}" for match in found if match})


def interpreter(name):
    """Path of an interpreter of this version, on the PATH or of pyenv; None if there is none that starts."""
    installed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    for path in [name, *sorted(installed.glob(f"{name.removeprefix('python')}.*/bin/{name}"))]:
        try:
            subprocess.run([path, "-c", ""], check=True, capture_output=True)
            return str(path)
        except (OSError, subprocess.CalledProcessError):
            continue
    return None


def plan(name):
    """(interpreter, arguments of pip, tests, whether the tests of absent packages are skipped) of an environment."""
    whole = ["tests", *(f"--ignore=tests/{part}" for part in TREE)]
    tests = whole if os.environ.get("WHOLE") else [f"tests/{part}" for part in CORE]
    if name == "oldest":
        (BUILD / "oldest.txt").write_text("\n".join(oldest()) + "\n")
        wanted = ["-e", f".[{','.join(EXTRAS)}]", "-c", str(BUILD / "oldest.txt"), *TOOLS, "onnx", "httpx", "polars"]
        return sys.executable, wanted, tests, True
    if name == "bare":
        own = [part for part in tests if not part.startswith("tests/cli")]  # the command needs an extra, and says so
        return sys.executable, ["-e", ".", *TOOLS], [*own, "--ignore=tests/cli"], True
    if name == "newest":
        python = next(found for found in map(interpreter, reversed(PYTHONS)) if found)
        return python, ["--upgrade", "-e", ".[test,cli,docs]"], tests, False
    return interpreter(name), ["-e", ".[test,cli]"], tests, False


def install(name, python, wanted):
    """Make the environment; whether it is there now."""
    folder = BUILD / name
    if os.environ.get("KEEP") and (folder / "bin" / "python").exists():
        return True
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
    commands = [[python, "-m", "venv", "--clear", folder], [*pip, "--upgrade", "pip"], [*pip, *wanted]]
    return all(subprocess.run(command, cwd=ROOT).returncode == 0 for command in commands)


def run(name, tests, skipping):
    """(facts of the environment, counts of its tests)."""
    python, report = BUILD / name / "bin" / "python", BUILD / f"{name}.xml"
    report.unlink(missing_ok=True)
    plain = ["-o", "addopts=", "-q", "--tb=short", "--strict-markers", "--timeout=300", f"--junitxml={report}"]
    plain += ["-p", "absent"] if skipping else []
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / ".ci")}
    jobs = ["-n", os.environ.get("JOBS", "2"), "--dist", "worksteal"]
    begun = time.perf_counter()
    subprocess.run([python, "-m", "pytest", *plain, *jobs, *tests], cwd=ROOT, env=os.environ | threads)
    facts = {"name": name, "tests": tests, "minutes": (time.perf_counter() - begun) / 60} | counts(report)
    listed = subprocess.run([python, "-m", "pip", "list", "--format=json"], capture_output=True, text=True, check=True)
    versions = {one["name"].lower(): one["version"] for one in json.loads(listed.stdout)}
    facts["packages"] = [f"{package} {versions[package]}" for package in SHOWN if package in versions]
    facts["python"] = subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout.split()[1]
    if name == "bare":
        facts["failed"] += not _says_what_to_install(python)
    (BUILD / f"{name}.json").write_text(json.dumps(facts))
    return facts


def counts(report):
    """{"passed", "failed", "skipped"} of a run; a run without a report has failed."""
    if not report.exists():
        return {"passed": 0, "failed": 1, "skipped": 0}
    suite = next(xml.parse(report).getroot().iter("testsuite"))
    failed, skipped = int(suite.get("failures")) + int(suite.get("errors")), int(suite.get("skipped"))
    return {"passed": int(suite.get("tests")) - failed - skipped, "failed": failed, "skipped": skipped}


def _says_what_to_install(python):
    done = subprocess.run([python.with_name("mercer"), "look", "x.csv"], capture_output=True, text=True)
    return done.returncode == 1 and "pip install '.[cli]'" in done.stderr and "Traceback" not in done.stderr


def page(rows, absent):
    """The result page."""
    lines = ["# Other versions", "", "Written by `make matrix`, see `.ci/matrix.py`. xfails count as skipped.", ""]
    lines += ["| environment | Python | packages | tests | passed | failed | skipped | minutes |", "|---|" + "---|" * 7]
    for row in rows:
        which = "all of the library" if row["tests"][0] == "tests" else "core"
        what = [row["name"], row["python"], ", ".join(row["packages"]), which]
        numbers = [str(row[key]) for key in ("passed", "failed", "skipped")] + [f"{row['minutes']:.0f}"]
        lines.append("| " + " | ".join(what + numbers) + " |")
    lines += ["", f"Not here, and left out: {', '.join(absent)}." if absent else "", ""]
    return "\n".join(lines)


def _known(names):
    return [json.loads(path.read_text()) for path in (BUILD / f"{name}.json" for name in names) if path.exists()]


def main(names):
    BUILD.mkdir(parents=True, exist_ok=True)
    absent = [name for name in PYTHONS if interpreter(name) is None]
    newest = next(name for name in reversed(PYTHONS) if name not in absent)
    own = f"python3.{sys.version_info.minor}"  # that of `make test`
    every = ["oldest", "bare", *(name for name in PYTHONS if name not in (*absent, newest, own)), "newest"]
    for name in names or every:
        python, wanted, tests, skipping = plan(name)
        if python is None or not install(name, python, wanted):
            print(f"matrix: {name} could not be installed", flush=True)
            (BUILD / f"{name}.json").unlink(missing_ok=True)
            continue
        facts = run(name, tests, skipping)
        told = ", ".join(f"{facts[key]} {key}" for key in ("passed", "failed", "skipped"))
        print(f"matrix: {name} (Python {facts['python']}): {told}", flush=True)
        PAGE.write_text(page(_known(every), absent), encoding="utf-8")
    ran = {row["name"]: row for row in _known(every)}
    return int(any(name not in ran or ran[name]["failed"] for name in names or every))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
