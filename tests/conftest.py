"""Fixtures shared by the tests."""

import numpy as np
import pytest


def to_numpy(X):
    return np.asarray(X)


def to_torch(X):
    import torch

    return torch.as_tensor(np.array(X))


def to_dask(X):
    import dask.array

    return dask.array.from_array(np.asarray(X), chunks=(max(1, -(-np.shape(X)[0] // 3)), -1))  # three row blocks


HOMES = {"numpy": to_numpy, "torch": to_torch, "dask": to_dask}


@pytest.fixture(params=HOMES, ids=str)
def home(request):
    """A function that moves a host array to one of the backends, NumPy, torch (CPU) or Dask."""
    return HOMES[request.param]


# Folders, files and tests that have a mark. `make test` skips the slow ones and those in a browser.
MARKS = {
    "tests/attacks": ("slow", "process"),
    "tests/studio/browser": ("browser", "process"),
    "tests/test_site.py": ("slow",),
    "tests/test_cluster.py": ("slow", "process"),
    # tests of more than five seconds
    "tests/benchmarks/test_book.py": ("slow",),
    "tests/benchmarks/test_outliers.py": ("slow",),
    "tests/benchmarks/test_scoreboard.py::test_a_race_runs_and_a_missing_contender_is_named": ("slow",),
    "tests/bridges/test_label_studio.py::test_many_tasks_are_written_once": ("slow",),
    "tests/cli/test_folders.py::test_workers_write_the_same_bytes_as_threads": ("slow",),
    "tests/cli/test_several_targets.py::test_memory_does_not_grow_with_the_number_of_labels_in_cells": ("slow",),
    "tests/cli/test_usage.py::test_any_terminal_can_show_the_answer": ("slow",),
    "tests/cli/test_usage.py::test_errors_as_installed": ("slow",),
    "tests/estimators/test_robust_sparse.py::test_contract": ("slow",),
    "tests/estimators/test_robust_sparse.py::test_same_scores_stored_tiled_and_precomputed": ("slow",),
    "tests/io/test_damaged.py::test_no_module_is_imported_because_a_file_names_it": ("slow",),
    "tests/io/test_save_load.py::test_models_trained_on_torch_and_dask_load_where_neither_is_installed": ("slow",),
    "tests/kernels/test_objects.py::test_every_estimator_takes_objects": ("slow",),
    "tests/papers/test_paper_cells.py": ("slow",),
    "tests/studio/test_notebook.py": ("slow", "process"),
    "tests/studio/test_process.py": ("slow", "process"),
    "tests/studio/test_several_targets.py": ("slow", "process"),
}


def pytest_collection_modifyitems(config, items):
    """Mark tests by their place."""
    root = config.rootpath
    for item in items:
        if item.path.is_relative_to(root):
            place = item.path.relative_to(root).as_posix()
            test = f"{place}::{getattr(item, 'originalname', item.name)}"
            for name, marks in MARKS.items():
                if name in (place, test) or place.startswith(f"{name}/"):
                    for mark in marks:
                        item.add_marker(mark)
