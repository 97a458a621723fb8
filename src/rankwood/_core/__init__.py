"""What everything else stands on: compiled parts, sorts, random numbers, threads, checks."""
