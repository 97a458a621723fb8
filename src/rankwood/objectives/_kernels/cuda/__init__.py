"""The kernels for a GPU: the same steps and verbs as on the CPU, with a team of threads for each query.

    rank      each document counts those above it; long lists are sorted
    prepare   the weight's own record, by rank
    visit     each document visits its partners and the anchors whose partner it is: no additions need to be atomic
    write     as on the CPU

A pair is visited from both sides, which gives the same push and Hessian: verbs of weights and losses are symmetric.
Documents stay in rank order: place and rank are the same here.
"""
