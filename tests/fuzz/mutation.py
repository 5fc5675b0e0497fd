"""Mutation of a program: of its bytes, its tokens and its lines.

Several mutations in sequence make one mutant. Tokens and lines come from the program or from another one, so
that mutants often parse.
"""

import re
from collections.abc import Callable
from random import Random

_TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|[#%@^!]?[\w.$]+|->|\s+|.', re.DOTALL)
_NUMBER = re.compile(rb"-?\d+")
# Numbers at the limits of integer types, and characters that have a meaning somewhere.
_INTEGERS = (0, 1, -1, 2, 3, 7, 1024, 2**31, 2**63 - 1, -(2**63), 2**64, 10**40)
_BYTES = b"\0\n\"'<>(){}[]#%@!^,:=-?*\\/\x1b\x7f\x80\xc3\xff0x"
_WORDS = b"""
    dense< loc( ? {} [] () "" tensor<*xf32> tensor<0xf32> !stablehlo.token none index unit tuple<> f8E4M3FN
    complex<f32> @main unreduced={ p0 //-----
""".split()

_MOST_COPIES = 40
_MOST_BYTES = 100_000

Mutation = Callable[[Random, list[bytes], list[bytes]], None]


def mutate(random: Random, text: bytes, other: bytes) -> bytes:
    """A mutant of a program; `other` is a program that pieces may come from."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        split, mutations = random.choice(_LEVELS)
        pieces, others = split(text), split(other)
        if pieces:
            random.choice(mutations)(random, pieces, others or pieces)
        text = b"".join(pieces)[:_MOST_BYTES]
    return text


def _bytes(text: bytes) -> list[bytes]:
    return [text[n : n + 1] for n in range(len(text))]


def lines(text: bytes) -> list[bytes]:
    """The lines of a program, with their ends."""
    return text.splitlines(keepends=True)


def tokens(text: bytes) -> list[bytes]:
    """The tokens of a program, with the blanks between them."""
    return _TOKEN.findall(text)


def _range(random: Random, pieces: list[bytes]) -> slice:
    """A random range of pieces, mostly a short one."""
    start = random.randrange(len(pieces))
    return slice(start, start + random.choice((1, 1, 1, 2, 3, 5, 10)))


def _erase(random: Random, pieces: list[bytes], _: list[bytes]) -> None:
    del pieces[_range(random, pieces)]


def _repeat(random: Random, pieces: list[bytes], _: list[bytes]) -> None:
    copied = _range(random, pieces)
    pieces[copied] = pieces[copied] * random.choice((2, 2, 2, 3, _MOST_COPIES))


def _move(random: Random, pieces: list[bytes], _: list[bytes]) -> None:
    moved = _range(random, pieces)
    taken = pieces[moved]
    del pieces[moved]
    index = random.randrange(len(pieces) + 1)
    pieces[index:index] = taken


def _insert(random: Random, pieces: list[bytes], others: list[bytes]) -> None:
    index = random.randrange(len(pieces) + 1)
    pieces[index:index] = others[_range(random, others)]


def _replace(random: Random, pieces: list[bytes], others: list[bytes]) -> None:
    pieces[_range(random, pieces)] = others[_range(random, others)]


def _truncate(random: Random, pieces: list[bytes], _: list[bytes]) -> None:
    del pieces[random.randrange(len(pieces)) :]


def _set_byte(random: Random, pieces: list[bytes], _: list[bytes]) -> None:
    pieces[random.randrange(len(pieces))] = bytes([random.choice(_BYTES)])


def _set_number(random: Random, pieces: list[bytes], _: list[bytes]) -> None:
    numbers = [n for n, piece in enumerate(pieces) if _NUMBER.fullmatch(piece)]
    if numbers:
        pieces[random.choice(numbers)] = str(random.choice(_INTEGERS)).encode()


def _set_word(random: Random, pieces: list[bytes], _: list[bytes]) -> None:
    pieces[random.randrange(len(pieces))] = random.choice(_WORDS)


def _swap_names(random: Random, pieces: list[bytes], others: list[bytes]) -> None:
    """Gives a token the text of another one of its kind: a value, a symbol, a string, a word."""
    index = random.randrange(len(pieces))
    kind = pieces[index][:1]
    alike = [
        piece for piece in (*pieces, *others) if piece[:1] == kind or (kind.isalpha() and piece[:1].isalpha())
    ]
    pieces[index] = random.choice(alike)


_ANY: tuple[Mutation, ...] = (_erase, _repeat, _move, _insert, _replace)
_LEVELS: tuple[tuple[Callable[[bytes], list[bytes]], tuple[Mutation, ...]], ...] = (
    (_bytes, (*_ANY, _truncate, _set_byte, _set_byte)),
    (tokens, (*_ANY, _set_number, _set_number, _set_word, _swap_names, _swap_names, _swap_names)),
    (tokens, (_set_number, _set_word, _swap_names, _swap_names)),
    (lines, _ANY),
)
