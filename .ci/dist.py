"""Build the wheel and the source archive twice, from copies of other dates and rights, and compare them byte by byte.

    python .ci/dist.py [FOLDER]

A third wheel is built from the source archive alone. All must agree; then they are put into FOLDER (dist).
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "build", "dist", "out", "__pycache__", ".*_cache", ".hypothesis", "*.egg-info"
)


def build(source, out, *targets):
    """Build the targets ("wheel", "sdist") of the tree `source` into the folder `out`: {name: digest}."""
    options = [word for target in targets for word in ("-t", target)]
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out), *options]
    subprocess.run(command, cwd=source, env=environment, check=True, stdout=subprocess.DEVNULL)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(out.iterdir())}


def twice(folder):
    """Build from two copies and from the source archive; the digests, which must be equal, of each."""
    found = []
    for number, mode in enumerate((0o644, 0o600)):
        source = folder / f"copy{number}" / "mercer"
        shutil.copytree(ROOT, source, ignore=LEFT_OUT)
        for path in source.rglob("*"):
            if path.is_file():
                os.utime(path, (1_600_000_000 + 10_000_000 * number,) * 2)
                path.chmod(mode | (path.stat().st_mode & 0o100))
        found.append(build(source, folder / f"dist{number}", "sdist", "wheel"))
    (archive,) = (folder / "dist0").glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    found.append(build(source, folder / "dist2", "wheel"))
    return found


if __name__ == "__main__":
    out = ROOT / (sys.argv[1] if len(sys.argv) > 1 else "dist")
    with tempfile.TemporaryDirectory() as temporary:
        first, second, unpacked = twice(Path(temporary))
        if first != second or not unpacked.items() <= first.items():
            raise SystemExit(f"The builds differ: {first}, {second}, and from the source archive {unpacked}.")
        shutil.copytree(Path(temporary) / "dist0", out, dirs_exist_ok=True)
    print("\n".join(f"{digest}  {name}" for name, digest in first.items()))
