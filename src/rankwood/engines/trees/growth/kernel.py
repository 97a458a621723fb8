"""The kernel that grows a tree, leaf by leaf: the leaf whose split gains most is split first [ke2017].

The first member of a team of threads (`_kernels/team.py`) does what is written here from top to bottom. Whatever takes
long is a loop over items, which all members share.
"""

from rankwood._kernels import team as team_of
from rankwood._kernels.compile.jit import jit, uncounted
from rankwood.engines.trees.growth.loops import SCORES, help_team, share
from rankwood.engines.trees.growth.partition import score_blocks
from rankwood.engines.trees.growth.records import open_tree
from rankwood.engines.trees.growth.splitting import complete_root, find_splits, split_leaf
from rankwood.engines.trees.growth.starting import make_root


@jit
def grow_tree(member, table):
    """Grow a tree as a member of a team; the first one, number 0, returns the number of leaves.

    It returns 0 if gradients aren't finite.
    """
    tree = open_tree(table)
    if member > 0:
        help_team(member, tree)
        return 0
    leaves = 0
    if make_root(tree):
        complete_root(tree)
        leaves = 1
        find_splits(tree, 0, -1)
        leaf = _best_leaf(tree.nodes, leaves)
        while leaf >= 0 and leaves < tree.num_leaves:
            split_leaf(tree, leaf, leaves)
            leaves += 1
            if leaves < tree.num_leaves:
                find_splits(tree, leaf, leaves - 1)
            leaf = _best_leaf(tree.nodes, leaves)
        _finish(tree, leaves)
    team_of.disband(tree.team)
    return leaves


@uncounted
def _best_leaf(nodes, leaves):
    """Return the leaf whose split gains most, the first of equal ones; -1 if no leaf has a split."""
    best = 0
    for leaf in range(1, leaves):
        if nodes[leaf].gain > nodes[best].gain:
            best = leaf
    return best if nodes[best].gain > 0.0 else -1


@uncounted
def _finish(tree, leaves):
    """Write the values of the leaves, and add them to the scores of their documents."""
    job = tree.job[0]
    weight = job.h_factor / job.g_factor * tree.learning_rate  # of values
    for k in range(leaves - 1):
        split = tree.splits[k]
        split.value *= weight
        split.hessian /= job.h_factor
        split.gain *= job.h_factor / (job.g_factor * job.g_factor)
    for k in range(leaves):
        node, leaf = tree.nodes[k], tree.leaves[k]
        leaf.value = node.value * weight
        leaf.count, leaf.hessian = node.count, node.h / job.h_factor
    job.leaves = leaves
    share(SCORES, score_blocks(tree.n_documents), tree)
