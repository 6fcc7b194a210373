"""Save fitted models and load them anywhere. A file is a zip of JSON and plain arrays, without anything that can run.

A file names its classes by registered names (`registry`), never by modules. Loading creates only objects of these
classes and does not call their constructors, so an untrusted file cannot run code. Its predictions may still be wrong.
Arrays of torch or Dask are saved as NumPy arrays, so a model trained on a GPU or a cluster loads without either.
"""

from pathlib import Path
from typing import Any

from ..files import replacing
from ..types import Estimator
from .archive import FORMAT, read, write
from .pack import Packer
from .registry import register
from .unpack import Unpacker


def save(model: Estimator, path: str | Path) -> None:
    """Write a fitted model to one file, which replaces an older one only when it is complete.

    Parameters
    ----------
    model : estimator, kernel or map
        An object of this package, a scikit-learn pipeline of them with common scalers and encoders, or an object of a
        class that was passed to `register`. A `FewLabelClassifier` is saved in its `compact` form.
    path : str or Path
        File name, by convention with the ending .mercer.

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


def write_model(model: Estimator, path: str | Path) -> None:
    """Write a fitted model directly to `path`, for callers that already have a temporary file."""
    packer = Packer()
    write(path, packer.pack(model, type(model).__name__), packer.arrays)


def load(path: str | Path) -> Any:
    """Read a model that `save` wrote.

    A file is refused if it is damaged, was written by a newer version, or contains anything but models of this package
    and of classes that were passed to `register`. Loading a file cannot run code.

    Parameters
    ----------
    path : str or Path
        File name.

    Returns
    -------
    The model.
    """
    return read(Path(path), lambda tree, arrays, name: Unpacker(arrays, name).unpack(tree))
