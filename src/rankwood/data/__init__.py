"""Data: RankingData, LETOR files, generated sets."""
