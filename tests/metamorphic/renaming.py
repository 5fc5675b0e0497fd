"""Renames the axes, functions and values of a program.

New names are the old ones after the same prefix, so they have the order of the old ones. The entry function
keeps its name.
"""

import re

_PREFIX = "r_"
_FUNCTION = re.compile(r"func\.func (?:private |public |nested )?@(\w+)")
_AXIS = re.compile(r'"([^"\n]+)"=\d')
_STRING = re.compile(r'"([^"\n]*)"')
_VALUE = re.compile(r"(?<![\w\"])%(\w+)")
_ENTRY = "main"


def rename_axes(text: str, program: str = "") -> str:
    """The program, or what passes made of `program`, with other names of mesh axes."""
    axes = {name for name in _AXIS.findall(program + text) if not name.startswith(_PREFIX)}

    def renamed(match: re.Match[str]) -> str:
        return f'"{_PREFIX}{match[1]}"' if match[1] in axes else match[0]

    return _STRING.sub(renamed, text)


def rename_functions(text: str, program: str = "") -> str:
    """The program, or what passes made of `program`, with other names of functions.

    Passes turn calls into named computations with the name of the function, and number copies of functions.
    """
    functions = _FUNCTION.findall(program or text)
    names = {name for name in functions if not name.startswith(_PREFIX)} - {_ENTRY}
    if not names:
        return text
    alternatives = "|".join(sorted(names))
    return re.sub(
        rf'(@|named_computation<"|sdy.original_func_name = ")((?:{alternatives})(?:_\d+)*)(?!\w)',
        rf"\1{_PREFIX}\2",
        text,
    )


def rename_values(text: str) -> str:
    """The program with other names of values, which the printer does not keep."""
    return _VALUE.sub(rf"%{_PREFIX}\1", text)
