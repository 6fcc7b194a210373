"""Find the order of words on a scale, such as low, medium and high, never … always, 18-25 and 26-35, or XS … XXL."""

import re

import numpy as np

_SCALES = [
    scale.split("|")
    for scale in (
        "none|very low|low|medium low|medium|moderate|medium high|high|very high|extreme",
        "none|low|mid|high",
        "minimal|mild|moderate|severe|very severe|critical",
        "none|mild|moderate|severe|critical",
        "no|mild|moderate|severe",
        "very small|small|medium|large|very large|huge",
        "small|mid|big",
        "tiny|small|medium|big|huge",
        "xxs|xs|s|m|l|xl|xxl|xxxl",
        "never|rarely|seldom|sometimes|often|usually|always",
        "strongly disagree|disagree|neutral|neither agree nor disagree|agree|strongly agree",
        "very dissatisfied|dissatisfied|neutral|satisfied|very satisfied",
        "very poor|poor|fair|average|good|very good|excellent",
        "very bad|bad|average|ok|good|very good|excellent",
        "fair|good|very good|premium|ideal",
        "po|fa|ta|gd|ex",
        "first|second|third|fourth|fifth",
        "young|middle-aged|old",
        "short|medium|long",
        "slow|medium|fast",
        "cold|cool|mild|warm|hot",
        "sehr niedrig|niedrig|gering|mittel|hoch|sehr hoch",
        "klein|mittel|groß|sehr groß",
        "nie|selten|manchmal|oft|häufig|immer",
        "sehr schlecht|schlecht|mittel|gut|sehr gut",
        "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec",
        "january|february|march|april|may|june|july|august|september|october|november|december",
        "低|中|高",
        "小|中|大",
    )
]


def positions(levels: np.ndarray) -> dict | None:
    """A dict from levels in small letters to their positions on a scale, from 0. None if they are not on a scale.

    Examples
    --------
    >>> positions(["High", "low", "medium"])
    {'low': 0, 'medium': 1, 'high': 2}
    >>> positions(["26-35", "18-25", "65+", "<18"])
    {'<18': 0, '18-25': 1, '26-35': 2, '65+': 3}
    """
    small = sorted({" ".join(level.casefold().split()) for level in levels})
    for scale in _SCALES:
        if len(small) > 2 and set(small) <= set(scale):
            ordered = [step for step in scale if step in small]
            return {step: place for place, step in enumerate(ordered)}
    limits = r"[<>≤≥]?\s*(\d+(?:[.,]\d+)?)(?:\s*(?:-|–|\.\.|to|bis)\s*\d+(?:[.,]\d+)?|\s*\+)?"
    starts = [re.fullmatch(limits, level, re.IGNORECASE) for level in small]
    if len(small) > 2 and all(starts):
        begin = {level: float(start[1].replace(",", ".")) for level, start in zip(small, starts) if start}
        ordered = sorted(small, key=lambda level: (begin[level], level[0] not in "<≤", level[0] in ">≥+"))
        return {level: place for place, level in enumerate(ordered)}
    return None
