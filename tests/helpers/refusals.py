"""Tests of texts and files that must be refused."""

import json

import pytest

import rankwood as rw
from rankwood._util import envelope


def refusal_test(read, cases):
    """Return a test that `read` raises an `InputError` for each text of `cases`, with a message that matches."""

    @pytest.mark.parametrize(("text", "message"), cases)
    def test(text, message):
        with pytest.raises(rw.InputError, match=message):
            read(text)

    return test


def signed(content):
    """Return the text of a model file whose checksum is right, whatever is in it."""
    return json.dumps({**content, "sha256": envelope.checksum(content)})
