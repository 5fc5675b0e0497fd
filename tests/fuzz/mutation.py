"""Mutation of a program: of its bytes, its tokens and its lines.

Several mutations in sequence make one mutant. Tokens and lines come from the program or from another one, so
that mutants often parse.
"""

import re
import string
import struct
from collections.abc import Callable, Sequence
from functools import cache
from random import Random

_TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|[#%@^!]?[\w.$]+|->|\s+|.', re.DOTALL)
# Numbers at the limits of integer types, and characters that have a meaning somewhere.
_INTEGERS = (0, 1, -1, 2, 3, 7, 1024, 2**31, 2**63 - 1, -(2**63), 2**64, 10**40)
_BYTES = b"\0\n\"'<>(){}[]#%@!^,:=-?*\\/\x1b\x7f\x80\xc3\xff0x"
_WORDS = b"""
    dense< loc( ? {} [] () "" tensor<*xf32> tensor<0xf32> !stablehlo.token none index unit tuple<> f8E4M3FN
    complex<f32> @main unreduced={ p0 //-----
""".split()

_LETTERS = string.ascii_letters.encode()
_MOST_COPIES = 40
_MOST_BYTES = 100_000

Split = Callable[[bytes], list[bytes]]
Mutation = Callable[[Random, list[bytes], Sequence[bytes]], None]


def mutate(random: Random, text: bytes, other: bytes) -> bytes:
    """A mutant of a program; `other` is a program of the corpus that pieces may come from."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        split, mutations = random.choice(_LEVELS)
        pieces = split(text)
        if pieces:
            random.choice(mutations)(random, pieces, _pieces_of_other(split, other) or pieces)
        text = b"".join(pieces)[:_MOST_BYTES]
    return text


@cache
def _pieces_of_other(split: Split, other: bytes) -> Sequence[bytes]:
    """The pieces of a program of the corpus, each split once."""
    return split(other)


def _bytes(text: bytes) -> list[bytes]:
    return list(struct.unpack(f"{len(text)}c", text))


def lines(text: bytes) -> list[bytes]:
    """The lines of a program, with their ends."""
    return text.splitlines(keepends=True)


def tokens(text: bytes) -> list[bytes]:
    """The tokens of a program, with the blanks between them."""
    return _TOKEN.findall(text)


def _range(random: Random, pieces: Sequence[bytes]) -> slice:
    """A random range of pieces, mostly a short one."""
    start = random.randrange(len(pieces))
    return slice(start, start + random.choice((1, 1, 1, 2, 3, 5, 10)))


def _erase(random: Random, pieces: list[bytes], _: Sequence[bytes]) -> None:
    del pieces[_range(random, pieces)]


def _repeat(random: Random, pieces: list[bytes], _: Sequence[bytes]) -> None:
    copied = _range(random, pieces)
    pieces[copied] = pieces[copied] * random.choice((2, 2, 2, 3, _MOST_COPIES))


def _move(random: Random, pieces: list[bytes], _: Sequence[bytes]) -> None:
    moved = _range(random, pieces)
    taken = pieces[moved]
    del pieces[moved]
    index = random.randrange(len(pieces) + 1)
    pieces[index:index] = taken


def _insert(random: Random, pieces: list[bytes], others: Sequence[bytes]) -> None:
    index = random.randrange(len(pieces) + 1)
    pieces[index:index] = others[_range(random, others)]


def _replace(random: Random, pieces: list[bytes], others: Sequence[bytes]) -> None:
    pieces[_range(random, pieces)] = others[_range(random, others)]


def _truncate(random: Random, pieces: list[bytes], _: Sequence[bytes]) -> None:
    del pieces[random.randrange(len(pieces)) :]


def _set_byte(random: Random, pieces: list[bytes], _: Sequence[bytes]) -> None:
    pieces[random.randrange(len(pieces))] = bytes([random.choice(_BYTES)])


def _set_number(random: Random, pieces: list[bytes], _: Sequence[bytes]) -> None:
    numbers = [n for n, piece in enumerate(pieces) if piece.isdigit()]
    if numbers:
        pieces[random.choice(numbers)] = str(random.choice(_INTEGERS)).encode()


def _set_word(random: Random, pieces: list[bytes], _: Sequence[bytes]) -> None:
    pieces[random.randrange(len(pieces))] = random.choice(_WORDS)


def _swap_names(random: Random, pieces: list[bytes], others: Sequence[bytes]) -> None:
    """Gives a token the text of another one of its kind: a value, a symbol, a string, a word."""
    index = random.randrange(len(pieces))
    kind = pieces[index][:1]
    kinds = _LETTERS if kind.isalpha() else kind
    pieces[index] = random.choice([piece for piece in (*pieces, *others) if piece[:1] in kinds])


_ANY: tuple[Mutation, ...] = (_erase, _repeat, _move, _insert, _replace)
_LEVELS: tuple[tuple[Split, tuple[Mutation, ...]], ...] = (
    (_bytes, (*_ANY, _truncate, _set_byte, _set_byte)),
    (tokens, (*_ANY, _set_number, _set_number, _set_word, _swap_names, _swap_names, _swap_names)),
    (tokens, (_set_number, _set_word, _swap_names, _swap_names)),
    (lines, _ANY),
)
