"""Simulates random reshards after they are lowered to collectives.

    python -m tests.simulation --count 20000
    python -m tests.simulation --count 20000 --kind local

Reshards that are too large or have no defined result are counted by reason, but not as simulated.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from collections.abc import Iterable

from tests.simulation.judge import RIGHT, WRONG, convert, judge
from tests.simulation.kinds import KINDS


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", choices=KINDS, default="reshards", help="the kind of reshards")
    parser.add_argument("--seeds", metavar="FROM:TO", help="the range of seeds, instead of a count")
    parser.add_argument("--count", type=int, default=2000, help="the number of reshards to simulate")
    parser.add_argument("--most", type=int, default=5, help="the maximum number of problems to show")
    options = parser.parse_args()
    kind = KINDS[options.kind]
    seeds: Iterable[int] = itertools.count()
    if options.seeds is not None:
        seeds = range(*map(int, options.seeds.split(":")))
    verdicts: Counter[str] = Counter()
    collectives: Counter[str] = Counter()
    to_show = []
    moves = 0
    for reshard in map(kind.make, seeds):
        if options.seeds is None and verdicts[RIGHT] + verdicts[WRONG] >= options.count:
            break
        verdict, simulation = judge(reshard, kind)
        verdicts[verdict] += 1
        if verdict == RIGHT:
            collectives.update(simulation.counts)
            moves += simulation.moves
        if verdict == WRONG:
            to_show.append((verdict, reshard, simulation))
    for verdict, reshard, simulation in to_show[: options.most]:
        problems = "; ".join(simulation.problems)
        print(f"{verdict}: {problems}", kind.text(reshard), "becomes", convert(reshard, kind), sep="\n")
    for counts in (verdicts, collectives):
        for words, count in counts.most_common():
            print(f"{count:6} {words}")
        print()
    print(f"{moves:6} moves of shard boundaries, because sizes do not divide")
    return 1 if verdicts[WRONG] else 0


if __name__ == "__main__":
    sys.exit(main())
