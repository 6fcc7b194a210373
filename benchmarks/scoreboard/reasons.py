"""Where a peer is ahead, or less than 1.2 times behind, and why: one sentence with the physical limit.

Keys are (case, peer, "speed" or "memory"). The report refuses both a missing reason and one for a row that is fine.
"""

REASONS: dict[tuple[str, str, str], str] = {}
