"""The names of objectives behind the published expected values of pairwise gradients."""

GAPS = ("s", "x", "s+", "x+", "s++", "x++")
NAMES = {
    "RankNet": "ranknet",
    "RankNet|sigma=2": "ranknet(sigma=2)",
    "BinRankNet": "bin-ranknet",
    "LambdaRank-NDCG": "lambdarank-ndcg",
    "LambdaRank-NDCG@k": "lambdarank-ndcg@{k}",
    "LambdaRank-trueNDCG@k": "lambdarank-ndcg@{k}(discount='truncated')",
    "LambdaRank-BNDCG@k": "lambdarank-bndcg@{k}",
    "LambdaRank-P@k": "lambdarank-p@{k}",
    "LambdaRank-ARPbk": "lambdarank-arpk@{k}",
    "NDCG-Loss1": "lambdaloss-ndcg1",
    "NDCG-Loss1@k": "lambdaloss-ndcg1@{k}",
    "NDCG-Loss2": "lambdaloss-ndcg",
    "NDCG-Loss2@k": "lambdaloss-ndcg@{k}",
    "NDCG-Loss2@k-shifted": "lambdaloss-ndcg@{k}(delta='shifted')",
    "NDCG-Loss2++@k": "lambdaloss-ndcg++@{k}(mu={mu})",
    "NDCG-Loss2++@k-shifted": "lambdaloss-ndcg++@{k}(mu={mu}, delta='shifted')",
    "BNDCG-Loss2@k": "lambdaloss-bndcg@{k}",
    "BNDCG-Loss2@k-shifted": "lambdaloss-bndcg@{k}(delta='shifted')",
    "BNDCG-Loss2++@k": "lambdaloss-bndcg++@{k}(mu={mu})",
    "ARP-Loss1": "lambdaloss-arp1",
    "ARP-Loss1-000": "lambdaloss-arp1(pairs='graded')",
    "ARP-Loss2": "lambdaloss-arp2",
    **{f"LambdaGap-{name.upper()}": f"lambdagap-{name}@{{k}}" for name in GAPS},
    **{
        f"LambdaGap-{name.upper()}|mu={mu}": f"lambdagap-{name}@{{k}}(mu={mu})"
        for name in GAPS[2:]
        for mu in (0.5, 2.5)
    },
    "LambdaGap-S++paper": "lambdagap-s++@{k}(definition='paper')",
    "LambdaGap-X++paper": "lambdagap-x++@{k}(definition='paper')",
}
