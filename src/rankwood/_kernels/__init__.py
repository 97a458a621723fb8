"""What kernels stand on: compiled parts and verbs, records, numbers, sorts, random numbers, threads."""
