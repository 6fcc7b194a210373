"""Encode text columns as word and character n-grams weighed by TF-IDF, on their leading singular directions."""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from ...types import Rows, Series
from .cells import GAPS, cells
from .kinds import Kind


@dataclass
class Text(Kind):
    """Rows of unit length, so that inner products are cosines. Cells without a known word are rows of zeros."""

    reaches: list = field(default_factory=list)  # None for words, (shortest, longest) for character n-grams
    vocabularies: list = field(default_factory=list)
    idf: list = field(default_factory=list)
    directions: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def block(self, column: Series) -> np.ndarray:
        from sklearn.preprocessing import normalize

        texts, at_once = _texts(column), 5_000
        blocks = [self._tfidf(texts[begin : begin + at_once]) for begin in range(0, len(texts), at_once)]
        return np.concatenate([normalize(np.asarray(block @ self.directions)) for block in blocks])

    def _tfidf(self, texts: np.ndarray) -> Rows:
        parts = zip(self.reaches, self.vocabularies, self.idf)
        return sp.hstack([_weighed(_counts(texts, reach, terms)[0], idf) for reach, terms, idf in parts]).tocsr()

    @classmethod
    def fit(cls, column):
        """Learn the vocabulary and the directions. None if there is nothing to read."""
        from sklearn.decomposition import TruncatedSVD

        texts, made = _texts(column), cls(str(column.name))
        some = min(10_000, len(texts))  # evenly spaced
        texts = texts[np.unique(np.linspace(0, len(texts) - 1, some).astype(int))]
        n, parts = len(texts), []
        # A letter of a script without spaces means as much as a word's stem.
        grams = (1, 3) if unspaced("".join(texts[:200])) > 0.3 else (2, 4)
        for reach, most in ((None, 10_000), (grams, 20_000)):
            counts, terms = _counts(texts, reach)
            cells_with = np.asarray((counts > 0).sum(axis=0)).ravel()
            order = np.argsort(-cells_with, kind="stable")[:most]
            kept = np.sort(order[cells_with[order] >= (2 if n >= 20 else 1)])
            if len(kept) == 0:
                continue
            made.reaches.append(reach)
            made.vocabularies.append({str(terms[place]): new for new, place in enumerate(kept)})
            made.idf.append(np.log((1 + n) / (1 + cells_with[kept])) + 1)
            parts.append(_weighed(counts[:, kept], made.idf[-1]))
        # On three real sets at 30 to 100 labels, 50 to 100 directions are best. More bring back noise of rare words.
        number = min(60, sum(map(len, made.vocabularies)) - 1, n - 1)
        if number < 1:
            return None
        made.directions = TruncatedSVD(number, random_state=0).fit(sp.hstack(parts).tocsr()).components_.T
        return made


def _counts(texts, reach, vocabulary=None):
    """(how often each term is in each text, the terms).

    The n-grams of a text are those of its words, and are found once for each different word.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    if not any(texts):
        return sp.csr_matrix((len(texts), len(vocabulary or ()))), list(vocabulary or ())
    try:
        if reach is None:
            counter = CountVectorizer(lowercase=False, vocabulary=vocabulary)
            return counter.fit_transform(texts), counter.get_feature_names_out()
        by_word = CountVectorizer(lowercase=False, token_pattern=r"\S+")
        words = by_word.fit_transform(texts)
        counter = CountVectorizer(lowercase=False, analyzer="char_wb", ngram_range=reach, vocabulary=vocabulary)
        return words @ counter.fit_transform(by_word.get_feature_names_out()), counter.get_feature_names_out()
    except ValueError:  # nothing but single letters
        return sp.csr_matrix((len(texts), 0)), []


def _weighed(counts: Rows, idf: np.ndarray) -> Rows:
    """TF-IDF rows of unit length, with 1 + log of the counts."""
    from sklearn.preprocessing import normalize

    rows = sp.csr_matrix(counts, dtype=np.float64)
    rows.data = 1 + np.log(rows.data)
    return normalize(rows @ sp.diags(idf))


def words_in(cell: str) -> int:
    """How many words a cell has. Two letters of a script without spaces count as one."""
    return max(len(cell.split()), unspaced(cell) * len(cell) / 2)


def unspaced(text):
    """Fraction of the letters that belong to scripts written without spaces between words."""
    if text.isascii():
        return 0.0
    scripts = ((0x3040, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7AF), (0x0E00, 0x0E7F))
    return sum(any(low <= ord(letter) <= high for low, high in scripts) for letter in text) / len(text)


def _texts(column: Series) -> np.ndarray:
    from sklearn.feature_extraction.text import strip_accents_unicode

    cut = ("" if cell in GAPS else cell[:2_000].lower() for cell in cells(column))
    return np.array([strip_accents_unicode(cell) for cell in cut], dtype=object)
