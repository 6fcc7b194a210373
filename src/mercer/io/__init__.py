"""Save fitted models and load them anywhere: a zip of JSON and plain arrays, with nothing in it that can run.

A file names its classes by registered names (`registry`), never by modules, and loading creates only objects of these
classes, without calling their constructors: a file from a stranger can be wrong but not dangerous. Arrays that lived in
torch or Dask are saved as NumPy arrays, so a model trained on a GPU or a cluster loads without either.
"""

from pathlib import Path
from typing import Any

from ..files import replacing
from .archive import FORMAT, read, write
from .pack import Packer
from .registry import register
from .unpack import Unpacker


def save(model: Any, path: str | Path) -> None:
    """Write a fitted model to one file, which replaces an older one only when it is complete.

    Parameters
    ----------
    model : estimator, kernel or map of this package; scikit-learn pipelines of them with common scalers and encoders;
        objects of a class that was passed to `register`. Of a `FewLabelClassifier` its `compact` form is written.
    path : file name; by custom it ends in .mercer.

    Examples
    --------
    >>> import tempfile, mercer
    >>> model = mercer.LSSVMClassifier().fit([[0.0], [1.0], [0.2]], ["low", "high", None])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mercer.save(model, f"{folder}/model.mercer")
    ...     mercer.load(f"{folder}/model.mercer").predict([[0.9]]).tolist()
    ['high']
    """
    with replacing(path, force=True) as (part,):
        write_model(model, part)


def write_model(model: Any, path: str | Path) -> None:
    """Write a fitted model straight to `path`: for callers that already hold a temporary file."""
    packer = Packer()
    write(path, packer.pack(model, type(model).__name__), packer.arrays)


def load(path: str | Path) -> Any:
    """Read a model that `save` wrote.

    A file that is damaged, was written by a newer version, or holds anything but models of this package and classes
    that were passed to `register` is refused; no code in it can run.
    """
    return read(Path(path), lambda tree, arrays, name: Unpacker(arrays, name).unpack(tree))
