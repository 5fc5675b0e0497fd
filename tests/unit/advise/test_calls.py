"""What a statement with an `out_sharding` is called, from the text of its call."""

import pytest

from sdyopt.analysis.changes.names import call_with_out_sharding


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("jnp.zeros(a.shape, jnp.float32)", "jnp.zeros(…)"),
        ('jnp.einsum("bd,df->bf",\n    x, w)', "jnp.einsum(…)"),
        ("t.at[ids[:, i]].get(mode='clip')", "t.at[…].get(…)"),
        ("x @ p['w']", "jnp.matmul(x, p['w']) for x @ p['w']"),
        # At most 48 columns are repeated.
        (f"x @ p[{41 * '0'}]", f"jnp.matmul(x, p[0]) for x @ p[{41 * '0'}]"),
        (f"x @ p[{42 * '0'}]", "jnp.matmul(…) for the product"),
        ("x @ p[\n0]", "jnp.matmul(…) for the product"),
        (f"{45 * 'f'}.dot(x)", ""),
        (f"{44 * 'f'}.dot(x)", f"{44 * 'f'}.dot(…)"),
        (f"{45 * 'f'}.at[0].get()", f"{45 * 'f'}.at[…].get(…)"),
        (f"{46 * 'f'}.at[0].get()", ""),
        # What takes no out_sharding, or is no call.
        ("norm(x)", ""),
        ("table.get(x)", ""),
        ("x + y", ""),
        ("x @", ""),
        ("", ""),
    ],
)
def test_a_call_is_named_by_its_function(text: str, call: str) -> None:
    assert call_with_out_sharding(text) == call
