"""`sdy-reshard-to-collectives` on a few random reshards."""

from tests.random_modules.compare import run_here
from tests.random_reshards.cases import module_text, random_reshard

HERE_ALONE = range(100)


def test_reshards_are_the_same_and_valid() -> None:
    texts = [module_text(map(random_reshard, HERE_ALONE)) for _ in range(2)]
    assert texts[0] == texts[1]
    ending = run_here(texts[0], "builtin.module()")
    assert ending.output
    assert not ending.messages
