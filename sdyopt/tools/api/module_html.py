"""A module in a notebook: the shardings of arguments and results of its functions, and its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.value_names import name_of, name_of_result, pattern_of
from sdyopt.shardy.notation.partition_spec import jax_type, short_spec
from sdyopt.tools.api.attributes import Type
from sdyopt.tools.api.html import as_html, coloured, details, html_fragment, table
from sdyopt.tools.api.operations import Function
from sdyopt.tools.api.shardings import Mesh, Sharding

# A notebook stores its output, so only the start of a large program, and of a long line, is shown.
MAX_LINES = 400
MAX_LINE = 2000
MAX_ROWS = 50


def module_html(text: str, meshes: Sequence[Mesh], functions: Sequence[Function]) -> str:
    """The HTML of a program with these meshes and functions."""
    return html_fragment(_parts(text, meshes, functions))


def _parts(text: str, meshes: Sequence[Mesh], functions: Sequence[Function]) -> Iterator[str]:
    axes = list(dict.fromkeys(axis.name for mesh in meshes for axis in mesh.axes))
    for mesh in meshes:
        of_mesh = f"@{mesh.name}: {mesh}, {counted(mesh.size, 'device')}"
        yield f"<p>{coloured(of_mesh, axes)}</p>"
    public = [function for function in functions if not function.is_private and function.arguments]
    yield from (_function(function, axes) for function in public)
    private = [f"@{function.symbol_name}" for function in functions if function not in public]
    if private and public:
        more = f" and {len(private) - 8} more" if len(private) > 8 else ""
        yield f"<p>other functions: {as_html(', '.join(private[:8]))}{more}</p>"
    lines = text.rstrip("\n").split("\n")
    shown = [line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]} …" for line in lines[:MAX_LINES]]
    program = f"<pre>{chr(10).join([coloured(line, axes) for line in shown])}</pre>"
    if len(lines) > MAX_LINES:
        program += f"<p>… and {len(lines) - MAX_LINES:,} more lines, which <code>print</code> shows</p>"
    yield details(f"text of the program, {counted(len(lines), 'line')}", program) if public else program


# What an argument or a result is, in a row: its name, type, sharding, and the shape on a device.
_Row = tuple[str, str, str, str]


def _function(function: Function, axes: Sequence[str]) -> str:
    """The arguments and results of a function, with those of all layers in one row."""
    arguments = [
        _row(name_of(argument.ir) or argument.name, argument.type, argument.sharding)
        for argument in function.arguments
    ]
    results = [
        _row(name_of_result(function.ir, number) or f"result {number}", type, sharding)
        for number, (type, sharding) in enumerate(
            zip(function.result_types, function.result_shardings, strict=True)
        )
    ]
    operations = sum(1 for _ in function.ir.walk()) - 1
    caption = f"@{function.symbol_name}: {counted(operations, 'operation')}"
    rows: list[list[str]] = []
    for title, listed in (
        (counted(len(arguments), "argument"), arguments),
        (counted(len(results), "result"), results),
    ):
        grouped = _grouped(listed)
        rows += [
            [as_html(title if not number else ""), *(coloured(cell, axes) for cell in cells)]
            for number, cells in enumerate(grouped[:MAX_ROWS])
        ]
        if len(grouped) > MAX_ROWS:
            rows.append(["", f"… and {len(grouped) - MAX_ROWS:,} more", "", "", ""])
    return table(["", "name", "type", "sharding", "on each device"], rows, 0, as_html(caption))


def _grouped(rows: Sequence[_Row]) -> list[_Row]:
    """The rows, with one for those that differ only in the numbers in their names."""
    groups: dict[_Row, list[str]] = {}
    for name, type, sharding, local in rows:
        groups.setdefault((pattern_of(name), type, sharding, local), []).append(name)
    return [
        (names[0] if len(names) == 1 else f"{pattern} × {len(names)}", type, sharding, local)
        for (pattern, type, sharding, local), names in groups.items()
    ]


def _row(name: str, type: Type, sharding: Sharding | None) -> _Row:
    """`params['w']`, `f32[16,32]`, `P(None, 'model')` and `f32[16,8]`."""
    text = jax_type(str(type))
    if sharding is None:
        return name, text, "", ""
    local = "" if type.shape is None else _sized(text, sharding.local_shape(type.shape))
    return name, text, short_spec(sharding.ir, is_annotation=True) or str(sharding), local


def _sized(text: str, shape: Sequence[int | None]) -> str:
    element, _, _ = text.partition("[")
    return f"{element}[{','.join('?' if size is None else str(size) for size in shape)}]"
