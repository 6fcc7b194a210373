"""Everything that is measured about `mercer studio`: waiting times, what is lost, simulated annotators.

    python -m benchmarks.studio [--data DIR] [--jobs 16] [--quick]

Runs `latency`, `durability` and `annotators` of this folder, one after the other; each can be run by itself, with more
options. Without --data the annotators label the digits only.
"""

import subprocess
import sys

from benchmarks.harness import arguments


def main():
    options = arguments(
        __doc__, data="optional", jobs={"type": int, "default": 2, "help": "processes of the annotators"}
    )
    quick = ["--quick"] if options.quick else []
    annotators = ["--jobs", str(options.jobs)]
    annotators += ["--data", str(options.data)] if options.data else ["--sets", "digits"]
    failed = 0
    for name, more in (("latency", []), ("durability", []), ("annotators", annotators)):
        failed |= subprocess.run([sys.executable, "-m", f"benchmarks.studio.{name}", *quick, *more]).returncode
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
