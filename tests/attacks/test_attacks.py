"""Three hundred attacks of each kind; `make attack N=10000` runs more."""

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
