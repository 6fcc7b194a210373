"""Ways into and out of other tools: each module needs its package only when it is used."""
