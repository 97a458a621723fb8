"""The compiled kernels of objectives, and the verbs they call."""
