"""Operation classes have slots only: operations are small, and a mistyped Python attribute is an error."""

from sdyopt.registry import all_dialects, find_dialect


def test_operations_have_slots_only() -> None:
    dialects = [dialect for name in all_dialects() if (dialect := find_dialect(name)) is not None]
    classes = {base for dialect in dialects for op_class in dialect.ops.values() for base in op_class.__mro__}
    assert sorted(cls.__qualname__ for cls in classes if "__dict__" in vars(cls)) == []
