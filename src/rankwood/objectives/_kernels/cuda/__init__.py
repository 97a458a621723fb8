"""The kernels for a GPU: the same steps and verbs as on the CPU, one team of threads a query.

    rank      each document counts those above it; long lists are sorted
    prepare   the weight's own record, by rank
    visit     each document visits its partners and the anchors whose partner it is: no additions need to be atomic
    write     as on the CPU

A pair is visited from both sides. Its push and its Hessian are the same both ways, as verbs of weights and losses are.
Documents stay in rank order: place and rank are the same here.
"""
