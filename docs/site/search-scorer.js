// How results of the search are ordered: pages that teach come before those that record.
var Scorer = {
  score: (result) => {
    const page = result[0], score = result[4];
    if (/^(project|evidence|examples)\//.test(page)) return score - 12;
    if (/^(architecture|benchmarks|numba-notes)$/.test(page)) return score - 8;
    if (/^(tutorials|how-to|explanation)\//.test(page)) return score + 4;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
