"""Tests of texts that must be refused."""

import pytest

import rankwood as rw


def refusal_test(read, cases):
    """Return a test that `read` raises an `InputError` for each text of `cases`, with a message that matches."""

    @pytest.mark.parametrize(("text", "message"), cases)
    def test(text, message):
        with pytest.raises(rw.InputError, match=message):
            read(text)

    return test
