"""The public names and their signatures are those of a list, so that none changes by accident.

After an intended change, write the list with `python -m tests.unit.api.test_public_names`, and add the change
to CHANGELOG.md.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Iterator
from pathlib import Path

import sdyopt
from sdyopt.tools import api

LIST = Path(__file__).with_name("public_names.txt")


def public_names() -> Iterator[str]:
    """A line for each public function and class, and for each member of a class."""
    for name in sorted(sdyopt.__all__):
        found = getattr(sdyopt, name)
        if inspect.isclass(found):
            bases = ", ".join(base.__name__ for base in found.__bases__ if base is not object)
            yield f"class {name}({bases})" if bases else f"class {name}"
            # The members of bases that are not public are members of the class.
            classes = [base for base in found.__mro__ if base is found or is_hidden(base)]
            yield from (f"{name}.{each}" for base in classes for each in sorted(members(base)))
        else:
            yield f"{name}{inspect.signature(found)}"


def is_hidden(base: type) -> bool:
    """Whether a base class is not public, but has public members."""
    return base.__module__.startswith("sdyopt.tools.api.") and base.__name__ not in sdyopt.__all__


def members(cls: type) -> Iterator[str]:
    """The public members that a class defines: fields, enumerators, properties, methods. `ir` is not one."""
    annotations = inspect.get_annotations(cls).items()
    yield from (f"{name}: {text}" for name, text in annotations if name[0] != "_" and name != "ir")
    if issubclass(cls, enum.Enum):
        yield from (f"{member.name} = {member.value!r}" for member in cls)
        return
    for name, member in vars(cls).items():
        if (name.startswith("_") and name != "_repr_html_") or name == "ir":
            continue
        if isinstance(member, property):
            yield f"{name} -> {inspect.signature(member.fget or str).return_annotation}"
        elif inspect.isfunction(member):
            yield f"{name}{inspect.signature(member)}"


def test_public_names_are_those_of_the_list() -> None:
    assert list(public_names()) == LIST.read_text(encoding="utf-8").splitlines()


def test_names_of_the_package_are_those_of_its_interface() -> None:
    assert sdyopt.__all__ == sorted(sdyopt.__all__) == api.__all__


def test_public_classes_and_members_have_docstrings_or_obvious_names() -> None:
    undocumented = {
        member
        for name in sdyopt.__all__
        if inspect.isclass(cls := getattr(sdyopt, name))
        for member, value in vars(cls).items()
        if isinstance(value, property) or inspect.isfunction(value)
        if not member.startswith("_") and not inspect.getdoc(value)
    }
    obvious = {
        "arguments",
        "help",
        "id",
        "input_location",
        "location",
        "message",
        "notes",
        "operands",
        "operations",
        "pass_name",
    }
    obvious |= {"is_private", "result_types", "results", "to_markdown", "type"}
    assert undocumented <= obvious
    assert [name for name in sdyopt.__all__ if not inspect.getdoc(getattr(sdyopt, name))] == []


if __name__ == "__main__":
    LIST.write_text("".join(f"{line}\n" for line in public_names()), encoding="utf-8")
