"""The loops of a tree, whose items the members of a team share."""

from rankwood._kernels import team as team_of
from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.pointers import behind
from rankwood.engines.trees.growth.fixed_point import (
    count_rows,
    largest_bits,
    list_rows,
    quantise_chunk,
)
from rankwood.engines.trees.growth.node_histograms import build_and_search
from rankwood.engines.trees.growth.partition import (
    SplitColumn,
    add_to_scores,
    mark_chunk,
    move_chunk,
    next_buffer,
)
from rankwood.engines.trees.growth.records import CODES

#: What a loop does: with a node's histogram, with each of `TREE.chunks`, or with blocks of scores.
HISTOGRAMS, LARGEST, QUANTISE, LIST_ROWS, MARK, MOVE, SCORES = range(7)


@uncounted
def share(kind, items, tree):
    """Do the items of a loop, together with the other members."""
    tree.job[0].kind = kind
    team_of.announce(tree.team, items)
    _take_items(0, tree)
    team_of.wait_for(tree.team, items)


@uncounted
def help_team(member, tree):
    """Take items of all loops until the tree is finished."""
    turns = 0
    while not team_of.is_over(tree.team):
        if team_of.has_items(tree.team):
            _take_items(member, tree)
            turns = 0
        else:
            turns = team_of.wait_a_turn(turns)


@uncounted
def _take_items(member, tree):
    """Do items of the current loop until none is left."""
    item = team_of.take_item(tree.team)
    while item >= 0:
        if tree.job[0].kind == HISTOGRAMS:
            build_and_search(tree, item, member)
        elif tree.job[0].kind == SCORES:
            add_to_scores(tree, item)
        else:
            _do_chunk(tree, tree.job[0].kind, tree.chunks[item])
        team_of.finish_item(tree.team)
        item = team_of.take_item(tree.team)


@uncounted
def _do_chunk(tree, kind, chunk):
    """Do what a loop over chunks of rows is about."""
    job = tree.job[0]
    rows = behind(tree.rows, chunk.buffer * tree.n_documents)
    if kind == LARGEST:
        chunk.g = largest_bits(tree.grad, chunk.begin, chunk.end)
        chunk.h = largest_bits(tree.hess, chunk.begin, chunk.end)
    elif kind == QUANTISE:
        quantise_chunk(tree, chunk, (job.g_factor, job.h_factor))
        count_rows(tree, chunk)
    elif kind == LIST_ROWS:
        list_rows(tree, chunk)
    elif kind == MARK:
        _mark(tree, chunk, rows)
    else:
        out = behind(tree.rows, next_buffer(chunk.buffer) * tree.n_documents)
        move_chunk(chunk, rows, tree.goes_left, out)


@uncounted
def _mark(tree, chunk, rows):
    """Note which rows of a chunk go left."""
    job, n_columns = tree.job[0], tree.document_columns
    of_queries = job.column >= n_columns
    codes = behind(tree.codes, job.column * tree.n_documents)
    if of_queries:
        codes = behind(tree.query_codes, (job.column - n_columns) * tree.n_queries)
    column = SplitColumn(codes, behind(tree.tables, job.split * CODES), of_queries)
    mark_chunk(chunk, rows, column, tree.query_of, tree.goes_left)
