"""Calls of the command line within this process, and what tests check of their output."""

import json
import re
import shlex

from rankwood.cli import main


def caller(capsys, folder, *first):
    """Return a function that runs a command line, after the words `first`; `@name` is a file of `folder`.

    The function returns the exit code, the output and the error output.
    """

    def run(line):
        words = [re.sub("(^|=)@", rf"\g<1>{folder}/", word) for word in shlex.split(line)]
        capsys.readouterr()
        try:
            code = main([*first, *words])
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        return code, out, err

    return run


def answer(result):
    """Return the JSON object of a call that went well."""
    code, out, err = result
    assert (code, err) == (0, "")
    return json.loads(out)


def complaint(result, code=1):
    """Return the one sentence of a call that went wrong."""
    got, out, err = result
    assert (got, out) == (code, "")
    assert err.startswith("rankwood: error: ")
    assert err.count("\n") == 1
    assert err.rstrip().endswith((".", "?"))
    return err


def cases(text):
    """Return the (command line, part of the message) of each line of a text, which has ` -> ` between them."""
    return [
        tuple(part.strip() for part in line.split(" -> ")) for line in text.strip("\n").splitlines()
    ]


def check_refused(call, line, message, code, made, empty):
    """Check the message of a call that goes wrong, and that it changes no file, in `made` or in an `empty` folder."""
    before = {path: path.read_bytes() for path in made.iterdir()}
    assert message in complaint(call(line), code)
    assert list(empty.iterdir()) == []
    assert {path: path.read_bytes() for path in made.iterdir()} == before


def check_help(result, command):
    """Check that the help of a command has examples."""
    code, out, _ = result
    assert code == 0
    assert f"  rankwood {command}" in out.partition("examples:")[2]
    assert "--json" in out
