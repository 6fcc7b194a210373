"""Three generators of hostile input, each attack made from one seed: `python -m attacks tables --n 10000`."""
