"""The WordPiece tokenizer of BERT models, which cuts words into the longest known pieces."""

import functools
import json
import unicodedata
from collections.abc import Iterable
from pathlib import Path


class WordPiece:
    """Turn texts into lists of the numbers of tokens.

    Parameters
    ----------
    vocabulary : dict from tokens to numbers. Pieces inside a word begin with ##.
    lower : whether letters are made small and lose their accents.
    unknown : the token of a word that cannot be cut into known pieces.

    Attributes
    ----------
    ends : the tokens that mark the beginning and the end of a text. Empty if the vocabulary lacks one of them.
    """

    def __init__(self, vocabulary: dict[str, int], lower: bool = True, unknown: str = "[UNK]") -> None:
        self.vocabulary, self.lower, self.unknown = vocabulary, lower, vocabulary[unknown]
        self.ends = tuple(vocabulary.get(token, -1) for token in ("[CLS]", "[SEP]"))
        self.ends = () if -1 in self.ends else self.ends
        self.pieces = functools.lru_cache(maxsize=100_000)(self._pieces)
        self.foreign = {number for token, number in vocabulary.items() if _foreign(token)} | {self.unknown}

    @classmethod
    def read(cls, folder: Path) -> "WordPiece | None":
        """The tokenizer of a model's folder. None if it has another kind."""
        file, settings, lower = folder / "tokenizer.json", folder / "tokenizer_config.json", True
        if settings.exists():
            lower = bool(json.loads(settings.read_text(encoding="utf-8")).get("do_lower_case", True))
        if file.exists():
            about = json.loads(file.read_text(encoding="utf-8"))
            model, cleaning = about["model"], about.get("normalizer") or {}
            if model.get("type") != "WordPiece" or cleaning.get("type") != "BertNormalizer":
                return None
            return cls(model["vocab"], cleaning.get("lowercase", lower), model.get("unk_token", "[UNK]"))
        if (folder / "vocab.txt").exists():
            words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
            return cls({word: place for place, word in enumerate(words) if word}, lower)
        return None

    def tokens(self, text: str) -> list[int]:
        """The numbers of a text's tokens, without those that mark its beginning and end."""
        return [token for word in self.words(text) for token in self.pieces(word)]

    def words(self, text: str) -> list[str]:
        """The words of a text. Every punctuation mark and every ideograph is one."""
        if not text.isascii():
            text = "".join(f" {letter} " if _ideograph(letter) else letter for letter in text)
        if self.lower:
            text = text.lower()
            if not text.isascii():
                text = "".join(one for one in unicodedata.normalize("NFD", text) if unicodedata.category(one) != "Mn")
        return "".join(map(_spaced, text)).split()

    def foreign_in(self, texts: Iterable[str]) -> float:
        """The fraction of the tokens that are unknown words or single letters of another script, such as Russian."""
        counts = [(sum(token in self.foreign for token in one), len(one)) for one in map(self.tokens, texts)]
        return sum(foreign for foreign, _ in counts) / max(sum(n for _, n in counts), 1)

    def _pieces(self, word: str) -> tuple[int, ...]:
        if len(word) > 100:  # unknown, as in the original
            return (self.unknown,)
        found, begin = [], 0
        while begin < len(word):
            for end in range(len(word), begin, -1):
                token = self.vocabulary.get(word[begin:end] if begin == 0 else f"##{word[begin:end]}")
                if token is not None:
                    found.append(token)
                    begin = end
                    break
            else:
                return (self.unknown,)
        return tuple(found)


@functools.lru_cache(maxsize=10_000)
def _spaced(letter: str) -> str:
    """A letter unchanged. Punctuation gets spaces around it, white space is a space, and control characters vanish."""
    kind = unicodedata.category(letter)
    if letter in "\t\n\r" or kind == "Zs":
        return " "
    if letter in "\0\ufffd" or kind[0] == "C":
        return ""
    ascii_mark = letter.isascii() and not letter.isalnum()
    return f" {letter} " if ascii_mark or kind[0] == "P" else letter


def _foreign(token: str) -> bool:
    """Whether a token is a single letter outside ASCII, at the beginning of a word or inside one."""
    letter = token.removeprefix("##")
    return len(letter) == 1 and letter.isalpha() and not letter.isascii()


@functools.lru_cache(maxsize=10_000)
def _ideograph(letter: str) -> bool:
    """Whether a letter is an ideograph, of which each is a word."""
    ranges = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x20000, 0x2CEAF), (0x2F800, 0x2FA1F))
    return any(low <= ord(letter) <= high for low, high in ranges)
