"""Signals that wait: until a block has ended, or calls `deliver`."""

import os
import signal
import threading

import pytest

from rankwood._util import interrupts


def interrupt():
    """Send Ctrl-C to this process; Python calls the handler before the next instruction."""
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(autouse=True)
def handler():
    before = signal.getsignal(signal.SIGINT)
    yield before
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_waits_until_the_block_has_ended():
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts.held():
        interrupt()
        interrupt()
        done.append("all of it")
    assert done == ["all of it"]


def test_deliver_raises_where_it_is_called_and_only_if_something_came():
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts.held():
        interrupts.deliver()
        done.append("nothing came")
        interrupt()
        with interrupts.held():  # inside another one
            done.append("inside")
        done.append("still held")
        interrupts.deliver()
        done.append("never")
    assert done == ["nothing came", "inside", "still held"]
    interrupts.deliver()  # outside of any block


def test_a_function_of_the_user_is_interrupted_at_once():
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts.held():
        with interrupts.released():
            with interrupts.held():  # as if it trained, too
                interrupt()
                done.append("held inside")
            done.append("never")
        done.append("never")
    assert done == ["held inside"]
    with pytest.raises(KeyboardInterrupt), interrupts.held():
        interrupt()
        with interrupts.released():
            done.append("never")
    assert done == ["held inside"]


def test_an_error_and_an_interrupt_are_both_told():
    with pytest.raises(KeyboardInterrupt) as caught, interrupts.held():
        interrupt()
        raise OSError("full")
    assert isinstance(caught.value.__context__, OSError)


def test_handlers_of_the_program_are_called_and_come_back():
    calls = []
    usual = signal.signal(signal.SIGTERM, lambda number, frame: calls.append(number))
    mine = signal.getsignal(signal.SIGTERM)
    try:
        with interrupts.held():
            os.kill(os.getpid(), signal.SIGTERM)
            assert calls == []
        assert calls == [signal.SIGTERM] and signal.getsignal(signal.SIGTERM) is mine
        with interrupts.held():  # somebody sets another one meanwhile
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, usual)


def test_other_threads_hold_nothing():
    def work():
        with interrupts.held():
            started.set()
            go.wait(10)
            interrupts.deliver()

    started, go = threading.Event(), threading.Event()
    thread = threading.Thread(target=work)
    thread.start()
    started.wait(10)
    with pytest.raises(KeyboardInterrupt):
        interrupt()
    go.set()
    thread.join()
