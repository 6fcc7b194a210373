"""Three hundred attacks of each kind. `make attack N=10000` runs more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .pool import attack


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", ["tables", "models", "calls"])
def test_no_attack_succeeds(kind):
    tally = attack(kind, range(300))
    first = [f"python -m attacks {kind} --only {seed}: {fault}" for seed, fault in tally.failures.items()]
    assert not first, "\n".join(first[:5])
    assert tally.tried == 300
    assert len(tally.outcomes) > 1, tally.outcomes  # some go through, some are refused


def test_a_process_that_dies_or_hangs_is_replaced_and_counts_as_a_failure():
    tally = attack("trial", ["well", "dies", "well", "hangs", "wrong", "well"], seconds=3)
    assert tally.outcomes == {"well": 3, "died": 1, "killed": 1, "failed": 1}
    assert set(tally.failures) == {"dies", "hangs", "wrong"}
    assert "took more than 3 s" in tally.failures["hangs"]


def test_a_large_parent_does_not_count_as_memory_of_an_attack():
    """Otherwise each attack would need a process of its own, which takes seconds to start."""
    parent = (
        "import subprocess, sys; large = b'1' * (1200 << 20); print(subprocess.check_output(sys.argv[1:], text=True))"
    )
    child = [sys.executable, "-c", "from attacks.pool import peak_memory; print(peak_memory())"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", parent, *child], env=environment, capture_output=True, text=True)
    assert 5 << 20 < int(done.stdout) < 200 << 20, done.stderr
