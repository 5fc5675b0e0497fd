"""Imports: five storeys of rooms, no import cycles, and `passes/` in a checkout and in a wheel.

A storey is a folder of `sdyopt/`, and a room a folder or a file of it. A room imports only rooms to its left
on its storey, and the storeys before it. `passes/` stands on shardy, beside analysis and tools.

Imports are read from the syntax tree, so those in functions and under TYPE_CHECKING count as well.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.sources

ROOT = Path(__file__).parents[2]

# The storeys from the lowest to the highest, and the rooms of each in their order.
STOREYS = """
base      dataclasses ‹ interning ‹ context ‹ releases ‹ compilers ‹ diagnostics ‹
          patterns ‹ parent_process
mlir      ir ‹ value_names ‹ asm ‹ dialects ‹ bytecode ‹ pipeline ‹ registry ‹ error_help
shardy    sharding ‹ notation ‹ record ‹ repropagation ‹ partition
analysis  interface ‹ figures ‹ sharding_record ‹ changes ‹ execution ‹ report ‹ hlo_comparison ‹ explain ‹
          comparison ‹ mesh_sweep ‹ advise ‹ lint
tools     driver ‹ api ‹ cli ‹ lit ‹ start
"""


def _rooms() -> list[str]:
    """All rooms in order, each after its storey, whose folder has a docstring only."""
    rooms = []
    for line in STOREYS.replace("‹\n", "‹").strip().splitlines():
        storey, _, names = line.partition(" ")
        rooms += [storey, *(f"{storey}.{name}" for name in re.findall(r"\w+", names))]
    return [*rooms, "plugin", "__main__"]


ROOMS = _rooms()
# What `passes/` stand on.
BELOW_PASSES = ROOMS[: ROOMS.index("analysis")]

# The modules that may import each dependency, which is slow to import or a concern of one layer.
USERS = {
    "click": ("sdyopt/tools/cli",),
    "htpy": (
        "sdyopt/analysis/advise/html_advice",
        "sdyopt/analysis/comparison/html_comparison",
        "sdyopt/analysis/mesh_sweep/formats",
        "sdyopt/analysis/interface/pages",
        "sdyopt/analysis/report/html_report",
        "sdyopt/analysis/explain/steps/analysis",
    ),
    "jax": ("sdyopt/analysis/execution/worker",),
    "jaxlib": ("sdyopt/analysis/execution/worker",),
    "lark": ("sdyopt/mlir/asm",),
    "mcp": ("sdyopt/tools/cli/mcp_server",),
    "ml_dtypes": ("sdyopt/analysis/execution/worker",),
    "numpy": ("sdyopt/tools/api/execution", "sdyopt/analysis/execution/worker"),
    "pytest": ("sdyopt/tools/lit",),
    "rich": (
        "sdyopt/analysis/advise",
        "sdyopt/analysis/hlo_comparison/compiled",
        "sdyopt/analysis/figures",
        "sdyopt/analysis/report",
        "sdyopt/shardy/notation/drawing",
    ),
}

# The package itself offers the names of one layer.
PACKAGE, OFFERED = "sdyopt", "tools.api"

# These may import other layers in functions, to keep the start of the program and its help fast. Elsewhere
# only libraries may be imported in functions, with a `noqa` that gives the reason.
IMPORT_LATE = (
    "sdyopt/tools/cli",
    "sdyopt/tools/driver",
    "sdyopt/tools/start",
    "sdyopt/tools/api/analyses",
    "sdyopt/tools/api/checks",
    "sdyopt/tools/api/execution",
    "sdyopt/tools/api/shardings",
    "sdyopt/tools/api/reports",
    "sdyopt/analysis/interface",
    "sdyopt/analysis/report/passes",
    "sdyopt/analysis/report/formats",
)

# The options of these analyses read files; every run imports the options of all.
_READING = (
    *(
        "advise",
        "comparison",
        "explain",
        "hlo_comparison",
        "hlo_comparison/compiled",
        "lint",
        "mesh_sweep",
        "report",
    ),
    *("hlo_comparison/compiled", "report/check"),
)
OPTIONS = {f"sdyopt/analysis/{name}" for name in _READING}

# The only import cycle: the classes of the IR core refer to each other.
IR_CORE = {f"sdyopt.mlir.ir.{name}" for name in ("block", "op_fields", "op_signature", "operation", "value")}
KNOWN_CYCLES = [IR_CORE]


@dataclass(frozen=True)
class Import:
    """An imported name in full. `is_nested`: the import is not at the top level of the module."""

    line: int
    name: str
    is_relative: bool
    is_nested: bool


def violations(path: str, source: str) -> list[str]:
    """The errors in the imports of a file; `path` is relative to the checkout."""
    module_path = path.removesuffix(".py").removesuffix("/__init__")
    room = _room(module_path.replace("/", "."))
    if room not in (None, "passes", *ROOMS) and not _is_new_analysis(room):
        return [f"{path}: {room!r} is not a known room; add it to this test and to docs/architecture.md"]
    errors = ((each.line, _error(module_path, room, each)) for each in _imports(path, source))
    return [f"{path}:{line}: {error}" for line, error in errors if error]


def _error(module_path: str, room: str | None, each: Import) -> str | None:
    package, _, rest = each.name.partition(".")
    target = _room(each.name)
    if module_path == PACKAGE and target == OFFERED:
        return None
    is_of_another_room = target is not None and target != room
    may_import_late = module_path in OPTIONS or _is_under(module_path, IMPORT_LATE)
    if each.is_nested and is_of_another_room and not may_import_late:
        return f"imports {each.name} in a function, which hides a cycle; import it at the top"
    if package in USERS and not _is_under(module_path, USERS[package]):
        return f"uses {package}, which only {' and '.join(USERS[package])} may import"
    if package == "passes" and room != "passes":
        return "imports `passes`, which does not exist in a wheel; use the registry"
    if package == "passes" and not each.is_relative:
        return "imports a pass module absolutely; its full name is different in a wheel"
    if package == "sdyopt" and room == "passes" and each.is_relative:
        return "imports the core relatively; in a checkout it is not a parent package of `passes`"
    if package == "sdyopt" and rest.split(".")[0] == "passes":
        return "imports `sdyopt.passes`, which does not exist in a checkout"
    is_above = target in ROOMS and target not in _rooms_below(room)
    if target != room and (is_above or _is_new_analysis(target)):
        return f"{room or 'the package itself'} may not import {target}"
    return None


def _rooms_below(room: str | None) -> list[str]:
    if room is None:
        return []
    if _is_new_analysis(room):
        return ROOMS[: ROOMS.index("tools")]
    return BELOW_PASSES if room == "passes" else ROOMS[: ROOMS.index(room)]


def _is_new_analysis(room: str | None) -> bool:
    """Whether a room is an analysis that no other room imports. Only those that others import are listed."""
    if room is None or room in ROOMS:
        return False
    return room.startswith("analysis.") and (ROOT / f"sdyopt/{room.replace('.', '/')}/analysis.py").exists()


def _room(module: str) -> str | None:
    """`ir` for sdyopt.mlir.ir.types; None for sdyopt itself and for other packages."""
    package, _, rest = module.partition(".")
    if package == "passes":
        return "passes"
    if package != "sdyopt" or not rest:
        return None
    return ".".join(rest.split(".")[:2])


def _is_under(module_path: str, folders: tuple[str, ...]) -> bool:
    return any(module_path == folder or module_path.startswith(folder + "/") for folder in folders)


def _imports(path: str, source: str) -> Iterator[Import]:
    tree = ast.parse(source)
    package, top = path.split("/")[:-1], set(tree.body)
    for node in ast.walk(tree):
        is_nested = node not in top
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name, False, is_nested)
        elif isinstance(node, ast.ImportFrom):
            # The parent package of `passes` is `sdyopt` in a wheel.
            depth = len(package) - node.level + 1
            base = package[:depth] if depth > 0 else ["sdyopt"]
            start = ".".join([*(base if node.level else []), *([node.module] if node.module else [])])
            for alias in node.names:
                yield Import(node.lineno, f"{start}.{alias.name}", node.level > 0, is_nested)


def _modules_imported_by_name(source: str) -> set[str]:
    """The modules of calls such as `import_module("sdyopt.mlir.ir")`."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(name))]):
                names.add(f"{name}.")
    return names


def import_cycles(imports: dict[str, set[str]]) -> list[set[str]]:
    """The strongly connected components of modules that import each other, sorted by their first name."""
    reachable = {module: _reachable(module, imports) for module in imports}
    cycles = {
        frozenset(other for other in reachable[module] if module in reachable[other])
        for module in imports
        if module in reachable[module]
    }
    return [set(cycle) for cycle in sorted(cycles, key=min)]


def _reachable(module: str, imports: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    pending = [module]
    while pending:
        new = imports[pending.pop()] - reached
        reached |= new
        pending.extend(new)
    return reached


def _module_imports() -> dict[str, set[str]]:
    """For each module of ours, the modules of ours that it imports, by their names in the checkout."""
    modules = {path: _module_name(path.relative_to(ROOT).as_posix()) for path in SOURCES}
    known = set(modules.values())
    imports: dict[str, set[str]] = {}
    for path, module in modules.items():
        source = path.read_text(encoding="utf-8")
        names = {each.name for each in _imports(path.relative_to(ROOT).as_posix(), source)}
        if "import_module" in source:
            names |= _modules_imported_by_name(source)
        # `from package import module` imports the module; `from module import name` the part before the name.
        candidates = {name if name in known else name.rpartition(".")[0] for name in names}
        imports[module] = (candidates & known) - {module}
    return imports


def _module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


SOURCES = sorted(path for folder in ("sdyopt", "passes") for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("path", [path.relative_to(ROOT).as_posix() for path in SOURCES])
def test_imports_are_allowed(path: str) -> None:
    assert violations(path, (ROOT / path).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("sdyopt/mlir/ir/types.py", "from sdyopt.base.interning import Interned"),
        ("sdyopt/mlir/ir/types.py", "from sdyopt.mlir.ir import Op"),
        ("sdyopt/mlir/dialects/builtin.py", "from sdyopt.mlir import ir, asm"),
        ("sdyopt/mlir/registry/table.py", "from sdyopt.mlir.pipeline import Pass"),
        ("sdyopt/tools/driver/run.py", "def run():\n    from sdyopt.analysis.report import timing"),
        ("sdyopt/tools/cli/request.py", "import click\nfrom sdyopt import __version__"),
        ("sdyopt/mlir/ir/block.py", "if TYPE_CHECKING:\n    from sdyopt.mlir.ir.operation import Op"),
        (
            "passes/common/cse.py",
            "from sdyopt.mlir.ir import Op\nfrom .effects import x\nfrom ..mesh import y",
        ),
        ("passes/pipelines/import_pipeline.py", "from ..common import cse"),
        ("sdyopt/__init__.py", "def __getattr__(name):\n    from sdyopt.tools import api"),
    ],
)
def test_allowed_imports(path: str, source: str) -> None:
    assert violations(path, source) == []


@pytest.mark.parametrize(
    ("path", "source", "error"),
    [
        (
            "sdyopt/base/interning.py",
            "from sdyopt.mlir.ir import Op",
            "base.interning may not import mlir.ir",
        ),
        ("sdyopt/mlir/ir/types.py", "import sdyopt.mlir.asm.parser", "mlir.ir may not import mlir.asm"),
        ("sdyopt/mlir/ir/types.py", "from sdyopt.mlir import asm", "mlir.ir may not import mlir.asm"),
        ("sdyopt/mlir/ir/types.py", "from ..dialects import func", "mlir.ir may not import mlir.dialects"),
        ("sdyopt/mlir/pipeline/tree.py", "import sdyopt.shardy", "mlir.pipeline may not import shardy"),
        (
            "sdyopt/analysis/report/mesh.py",
            "import sdyopt.tools.driver",
            "may not import tools.driver",
        ),
        ("sdyopt/__init__.py", "from sdyopt.mlir.ir import Op", "the package itself may not import mlir.ir"),
        ("sdyopt/__init__.py", "def __getattr__(name):\n    from sdyopt.tools import cli", "hides a cycle"),
        ("sdyopt/tools/driver/job.py", "import sdyopt.tools.api", "tools.driver may not import tools.api"),
        ("passes/common/cse.py", "import sdyopt.tools.driver", "passes may not import tools.driver"),
        ("sdyopt/mlir/ir/op.py", "def f():\n    from sdyopt.mlir.asm import print_op", "hides a cycle"),
        ("sdyopt/mlir/ir/op.py", "if TYPE_CHECKING:\n    import sdyopt.mlir.asm", "hides a cycle"),
        ("sdyopt/tools/driver/run.py", "import rich.table", "uses rich"),
        ("sdyopt/mlir/dialects/func.py", "from lark import Lark", "uses lark"),
        ("sdyopt/tools/driver/run.py", "import click", "uses click"),
        ("sdyopt/tools/driver/run.py", "import passes.common", "imports `passes`"),
        ("sdyopt/mlir/registry/table.py", "from sdyopt import passes", "imports `sdyopt.passes`"),
        ("passes/common/cse.py", "from passes.mesh import x", "imports a pass module absolutely"),
        ("passes/common/cse.py", "from sdyopt.passes.mesh import x", "imports `sdyopt.passes`"),
        ("passes/common/cse.py", "from ...ir import Op", "imports the core relatively"),
        ("sdyopt/utilities.py", "", "not a known room"),
        ("sdyopt/base/utilities.py", "", "not a known room"),
    ],
)
def test_rejected_imports(path: str, source: str, error: str) -> None:
    [violation] = violations(path, source)
    assert error in violation


def test_there_are_no_import_cycles_but_the_known_ones() -> None:
    """A known cycle that is gone fails as well: remove it from KNOWN_CYCLES."""
    assert import_cycles(_module_imports()) == KNOWN_CYCLES


def test_import_cycles_are_found() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set[str](), "e": {"a", "f"}, "f": {"e"}}
    assert import_cycles(imports) == [{"b", "c"}, {"e", "f"}]


def test_passes_are_not_inside_the_package() -> None:
    """In a wheel, passes/ is at sdyopt/passes, which therefore must not exist in a checkout."""
    assert not (ROOT / "sdyopt" / "passes").exists()
    assert not (ROOT / "sdyopt" / "passes.py").exists()
    assert (ROOT / "sdyopt" / "py.typed").exists()
    assert (ROOT / "passes" / "py.typed").exists()


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import sdyopt; print(*sorted(set(sys.modules) - before))"
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert process.stdout.split() == ["sdyopt"]
