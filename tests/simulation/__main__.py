"""Simulates what random reshards become.

python -m tests.simulation --seeds 0:20000
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.random_reshards.cases import module_text, random_reshard
from tests.simulation.judge import GIVEN_UP, RIGHT, WRONG, convert, judge


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default="0:2000", metavar="FROM:TO", help="which reshards")
    parser.add_argument("--most", type=int, default=5, help="how many problems to show")
    options = parser.parse_args()
    start, end = map(int, options.seeds.split(":"))
    verdicts: Counter[str] = Counter()
    collectives: Counter[str] = Counter()
    to_show = []
    moves = 0
    for reshard in map(random_reshard, range(start, end)):
        verdict, simulation = judge(reshard)
        verdicts[verdict] += 1
        if verdict == RIGHT:
            collectives.update(simulation.counts)
            moves += simulation.moves
        if verdict in (WRONG, GIVEN_UP):
            to_show.append((verdict, reshard, simulation))
    for verdict, reshard, simulation in sorted(to_show, key=lambda shown: shown[0] != WRONG)[: options.most]:
        text = module_text([reshard])
        print(f"{verdict}: {'; '.join(simulation.problems)}", text, "becomes", convert(text), sep="\n")
    for counts in (verdicts, collectives):
        for words, count in counts.most_common():
            print(f"{count:6} {words}")
        print()
    print(f"{moves:6} moves of borders, because sizes do not divide")
    return 1 if verdicts[WRONG] else 0


if __name__ == "__main__":
    sys.exit(main())
