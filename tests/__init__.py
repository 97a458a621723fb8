"""The tests: folders mirror those of the package; oracles/ and helpers/ are what tests share."""
