"""Trees on documents, grown by Rankwood itself with exact sums."""
