"""The dataclasses of `sdyopt.base.dataclasses` behave like Python's: each test runs with both."""

import dataclasses
import typing
from types import ModuleType
from typing import Any, ClassVar

import pytest

import sdyopt.base.dataclasses


@pytest.fixture(params=[dataclasses, sdyopt.base.dataclasses], ids=["python", "sdyopt"])
def module(request: pytest.FixtureRequest) -> Any:
    assert isinstance(request.param, ModuleType)
    return request.param


def _point(module: Any, **options: bool) -> Any:
    class Point:
        x: int
        y: int = 2
        tags: list[str] = module.field(default_factory=list, compare=False)
        origin: ClassVar[int] = 0

    return module.dataclass(**options)(Point)


@pytest.mark.parametrize("slots", [False, True])
def test_fields_are_positional_or_named_and_have_defaults(module: Any, slots: bool) -> None:
    point = _point(module, slots=slots)
    assert (point(1).x, point(1).y, point(1, y=3).y, point(x=4).x) == (1, 2, 3, 4)
    assert point(1).tags == [] and point(1).tags is not point(1).tags
    assert point.origin == 0 and point.__match_args__ == ("x", "y", "tags")


@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize(("arguments", "named"), [((), {}), ((1, 2, [], 4), {}), ((1,), {"z": 2})])
def test_wrong_arguments_are_type_errors(
    module: Any, slots: bool, arguments: tuple[object, ...], named: dict[str, object]
) -> None:
    with pytest.raises(TypeError):
        _point(module, slots=slots)(*arguments, **named)


def test_an_argument_given_twice_is_a_type_error(module: Any) -> None:
    with pytest.raises(TypeError):
        _point(module)(1, x=2)


def test_slots_leave_no_dictionary(module: Any) -> None:
    assert not hasattr(_point(module, slots=True)(1), "__dict__")
    with pytest.raises(AttributeError):
        _point(module, slots=True)(1).z = 3


def test_equality_compares_class_and_fields(module: Any) -> None:
    point = _point(module)
    assert point(1, 2, ["a"]) == point(1, 2, ["b"])
    assert point(1) != point(2)
    assert point(1) != _point(module)(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(point(1))


def test_without_eq_only_the_same_instance_is_equal(module: Any) -> None:
    point = _point(module, eq=False)
    assert point(1) != point(1)
    assert len({point(1), point(1)}) == 2


def test_frozen_instances_are_hashed_by_value_and_cannot_change(module: Any) -> None:
    point = _point(module, frozen=True)
    assert len({point(1), point(1)}) == 1
    with pytest.raises(AttributeError):
        point(1).x = 2
    with pytest.raises(AttributeError):
        del point(1).x


def test_fields_of_bases_come_first(module: Any) -> None:
    class Named(_point(module)):  # type: ignore[misc]  # a class that is made at run time
        name: str = module.field(default="p", kw_only=True)
        y: int = 5

    named = module.dataclass(Named)
    assert (named(1).y, named(1, name="q").name) == (5, "q")
    assert named.__match_args__ == ("x", "y", "tags")


def test_post_init_runs_after_fields_are_set(module: Any) -> None:
    class Doubled:
        x: int
        double: int = module.field(init=False, repr=False)

        def __post_init__(self) -> None:
            self.double = 2 * self.x

    doubled = module.dataclass(Doubled)
    assert doubled(4).double == 8
    assert repr(doubled(4)).endswith("Doubled(x=4)")


def test_own_methods_are_kept(module: Any) -> None:
    class Odd:
        x: int

        def __repr__(self) -> str:
            return "odd"

        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = object.__hash__

    odd = module.dataclass(Odd)
    assert repr(odd(1)) == "odd" and odd(1) == odd(2) and isinstance(hash(odd(1)), int)


def test_replace_copies_with_changes(module: Any) -> None:
    point = _point(module, frozen=True)
    assert module.replace(point(1, 3), x=7) == point(7, 3)


def test_asdict_enters_dataclasses_in_containers(module: Any) -> None:
    point = _point(module)
    nested = point([point(1)], {"a": point(2)})
    inner = {"y": 2, "tags": []}
    assert module.asdict(nested) == {"x": [{"x": 1, **inner}], "y": {"a": {"x": 2, **inner}}, "tags": []}


@pytest.mark.parametrize("slots", [False, True])
def test_functions_of_python_take_instances(module: Any, slots: bool) -> None:
    point = _point(module, slots=slots)(1)
    is_dataclass: bool = dataclasses.is_dataclass(point)
    assert is_dataclass
    assert [field.name for field in dataclasses.fields(point)] == ["x", "y", "tags"]
    moved = dataclasses.replace(point, y=3)
    assert type(moved) is type(point) and (moved.x, moved.y) == (1, 3)
    assert dataclasses.asdict(moved) == {"x": 1, "y": 3, "tags": []}


def test_a_mutable_default_is_rejected(module: Any) -> None:
    class Path:
        points: list[int] = []  # noqa: RUF012

    with pytest.raises(ValueError, match="mutable default <class 'list'> for field points is not allowed"):
        module.dataclass(Path)


@pytest.mark.parametrize("base", [typing.NamedTuple, sdyopt.base.dataclasses.NamedTuple])
def test_named_tuples(base: Any) -> None:
    class Point(base):  # type: ignore[misc]
        """A point."""

        x: int
        y: "int" = 2
        origin = (0, 0)

        @property
        def sum(self) -> int:
            return sum(self)

        def __bool__(self) -> bool:
            return self.x != 0

    kind: Any = Point
    point = kind(1)
    assert point == (1, 2) and kind(y=3, x=1) == (1, 3)
    assert (point.sum, bool(kind(0)), point._replace(x=5), point._asdict()) == (
        3,
        False,
        (5, 2),
        {"x": 1, "y": 2},
    )
    assert (kind._fields, kind.origin, kind.__doc__, kind.__mro__[1]) == (
        ("x", "y"),
        (0, 0),
        "A point.",
        tuple,
    )
    assert (kind.__name__, kind.__module__, kind.__match_args__) == ("Point", __name__, ("x", "y"))
    assert repr(point) == "Point(x=1, y=2)"
    with pytest.raises(TypeError):
        kind()
    with pytest.raises(AttributeError):
        point.x = 2
