"""The number of compiled loops of a first fit, its message, and interrupts."""

import signal

import pytest

from benchmarks.speed.first_use import first_fit
from mercer.compilation import compilation_reported, compiled
from mercer.events import Note, Progress


@pytest.fixture
def no_cache(monkeypatch):
    def nowhere(*_):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr("numba.core.caching.CacheImpl.__init__", nowhere)


def test_loops_are_compiled_where_no_folder_can_hold_the_machine_code(no_cache):
    assert compiled(nogil=True)(lambda x: x + 1)(2) == 3


def test_an_interrupt_while_a_loop_is_compiled_waits_until_it_is():
    from numba.core import event

    class Interrupting(event.Listener):
        def on_start(self, _):
            signal.raise_signal(signal.SIGINT)

        def on_end(self, _):
            pass

    inner = compiled()(lambda x: x + 1)
    outer = compiled()(lambda x: inner(x) * 2)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with event.install_listener("numba:compile", Interrupting()), pytest.raises(KeyboardInterrupt):
            outer(1.0)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, handler)
    assert len(inner.overloads) == len(outer.overloads) == 1
    assert outer(1.0) == 4.0


def test_compiling_is_reported_once_with_the_progress_so_far(no_cache):
    heard = []
    with compilation_reported(heard.append) as on_event:
        on_event(Progress("building", 0.25))
        first, second = compiled()(lambda x: x + 1), compiled()(lambda x: x - 1)
        assert first(1) == 2 and second(1) == 0
        on_event(Note("done"))
    compiled()(lambda x: x * 2)(1)  # no message outside
    assert [event.fraction for event in heard[:2]] == [0.25, 0.25] and "compiling" in heard[1].text
    assert heard[2:] == [Note("done")]


@pytest.mark.slow
@pytest.mark.process
def test_a_first_fit_compiles_few_functions_and_the_next_process_none(tmp_path):
    cold, warm = first_fit("iris", tmp_path), first_fit("iris", tmp_path)
    own = [name for name, depth, _ in cold["compiled"] if depth == 0]
    assert sorted(own) == sorted(set(own)), "a loop is compiled for two types of arguments"
    assert len(own) <= 8 and len(cold["compiled"]) <= 30
    assert warm["compiled"] == []
