"""Attacks that end as defined by their seeds, for the test of the pool itself."""

import os
import time


def attack(seed, folder):
    if seed == "dies":
        os._exit(7)
    if seed == "hangs":
        time.sleep(60)
    assert seed == "well", "wrong"
    return seed
