"""Random user-defined sharding rules, which may be on any operation."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

from tests.random_modules.scopes import Scope, Type

FACTORS = ascii_lowercase[8:]


def written_rule(scope: Scope, inputs: Sequence[Type], outputs: Sequence[Type]) -> str:
    """A rule for these tensors; a dimension has one or two factors, which others may share."""
    random = scope.random
    sizes = {name: random.choice((2, 2, 3, 4, 6, 8)) for name in FACTORS}
    mappings = [_mapping(scope, type) for type in (*inputs, *outputs)]
    used = sorted({name for mapping in mappings for dim in mapping for name in dim})
    # Factors must have the first letters, in order.
    letters = dict(zip(used, FACTORS, strict=False))
    texts = [", ".join("".join(letters[name] for name in dim) for dim in mapping) for mapping in mappings]
    operands = ", ".join(f"[{text}]" for text in texts[: len(inputs)])
    results = ", ".join(f"[{text}]" for text in texts[len(inputs) :])
    factors = ", ".join(f"{letters[name]}={sizes[name]}" for name in used)
    special = _special(scope, used, {name for m in mappings[len(inputs) :] for dim in m for name in dim})
    lists = "".join(
        f" {kind}={{{', '.join(letters[name] for name in names)}}}"
        for kind, names in special.items()
        if names
    )
    custom = ", custom" if random.random() < 0.5 else ""
    return f"#sdy.op_sharding_rule<({operands})->({results}) {{{factors}}}{lists}{custom}>"


def _mapping(scope: Scope, type: Type) -> list[tuple[str, ...]]:
    """Distinct factors for each dimension of a tensor."""
    names = scope.random.sample(FACTORS[: 2 * len(type.shape) + 2], 2 * len(type.shape))
    return [
        tuple(names[2 * dim : 2 * dim + scope.random.choice((1, 1, 2))]) for dim in range(len(type.shape))
    ]


def _special(scope: Scope, used: Sequence[str], in_results: set[str]) -> dict[str, list[str]]:
    """Factors of special kinds, at most one kind each, and blocked factors."""
    factors_by_kind: dict[str, list[str]] = {"reduction": [], "need_replication": [], "permutation": []}
    for name in used:
        kind = scope.random.choice((*factors_by_kind, None, None, None))
        if kind is not None and not (kind == "reduction" and name in in_results):
            factors_by_kind[kind].append(name)
    factors_by_kind["blocked_propagation"] = [name for name in used if scope.random.random() < 0.1]
    return factors_by_kind
