"""Guards the order of the layers, and what keeps `passes/` working in a checkout and in a wheel.

    interning ‹ diagnostics ‹ ir ‹ asm ‹ dialects ‹ sharding ‹ pipeline ‹ registry ‹ passes
                                                                          registry ‹ report ‹ driver ‹ cli

Imports are read from the syntax tree, so those in functions and under TYPE_CHECKING count as well.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FOUNDATION = ("interning", "diagnostics", "ir", "asm", "dialects")
SHARED = (*FOUNDATION, "sharding", "pipeline", "registry")

# What each layer may import besides itself.
MAY_IMPORT = {
    **{layer: FOUNDATION[:index] for index, layer in enumerate(FOUNDATION)},
    "sharding": FOUNDATION,
    "pipeline": SHARED[:-2],
    "registry": SHARED[:-1],
    "passes": SHARED,
    "report": SHARED,
    "driver": (*SHARED, "report"),
    "cli": (*SHARED, "report", "driver"),
    "__main__": ("cli",),
}

# Who may use the libraries that we depend on; each is slow to import or a concern of one layer.
USERS = {
    "click": ("sdyopt/cli",),
    "lark": ("sdyopt/asm",),
    "rich": ("sdyopt/report", "sdyopt/diagnostics/render", "sdyopt/diagnostics/paint"),
}

# Users wait for the start of these two, so they import the rest when it is needed. Elsewhere only a
# library may be imported late, where the linter is told why.
IMPORT_LATE = ("sdyopt/cli", "sdyopt/driver")


@dataclass(frozen=True)
class Import:
    """One imported name, in full, with where it stands."""

    line: int
    name: str
    is_relative: bool
    is_nested: bool


def violations(path: str, source: str) -> list[str]:
    """What the imports of a file do wrong; `path` is its path in the checkout."""
    home = path.removesuffix(".py").removesuffix("/__init__")
    layer = _layer(home.replace("/", "."))
    if layer not in MAY_IMPORT and layer is not None:
        return [f"{path}: {layer!r} is no known layer; add it to this test and to STYLE's table"]
    complaints = ((each.line, _complaint(home, layer, each)) for each in _imports(path, source))
    return [f"{path}:{line}: {complaint}" for line, complaint in complaints if complaint]


def _complaint(home: str, layer: str | None, each: Import) -> str | None:
    package, _, rest = each.name.partition(".")
    target = _layer(each.name)
    is_of_another_layer = target is not None and target != layer
    if each.is_nested and is_of_another_layer and not _is_under(home, IMPORT_LATE):
        return f"imports {each.name} late, which hides a cycle; import it at the top"
    if package in USERS and not _is_under(home, USERS[package]):
        return f"uses {package}, which only {' and '.join(USERS[package])} may"
    if package == "passes" and layer != "passes":
        return "names `passes`, which a wheel does not have; the registry finds passes"
    if package == "passes" and not each.is_relative:
        return "names a sibling absolutely; a wheel has it under another name"
    if package == "sdyopt" and layer == "passes" and each.is_relative:
        return "names the core relatively; a checkout has it beside `passes`, not above"
    if package == "sdyopt" and rest.split(".")[0] == "passes":
        return "names `sdyopt.passes`, which a checkout does not have"
    if target in MAY_IMPORT and target != layer and target not in MAY_IMPORT.get(layer or "", ()):
        return f"{layer or 'the package itself'} may not import {target}"
    return None


def _layer(module: str) -> str | None:
    """`ir` for sdyopt.ir.types; None for sdyopt itself and for what is not ours."""
    package, _, rest = module.partition(".")
    if package == "passes":
        return "passes"
    return rest.partition(".")[0] or None if package == "sdyopt" else None


def _is_under(home: str, places: tuple[str, ...]) -> bool:
    return any(home == place or home.startswith(place + "/") for place in places)


def _imports(path: str, source: str) -> Iterator[Import]:
    tree = ast.parse(source)
    package = path.split("/")[:-1]
    for node in ast.walk(tree):
        is_nested = node not in tree.body
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name, False, is_nested)
        elif isinstance(node, ast.ImportFrom):
            # What stands above the checkout's packages is, in a wheel, the core.
            above = len(package) - node.level + 1
            base = package[:above] if above > 0 else ["sdyopt"]
            start = ".".join([*(base if node.level else []), *([node.module] if node.module else [])])
            for alias in node.names:
                yield Import(node.lineno, f"{start}.{alias.name}", node.level > 0, is_nested)


SOURCES = sorted(path for folder in ("sdyopt", "passes") for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("path", [path.relative_to(ROOT).as_posix() for path in SOURCES])
def test_imports_point_down(path: str) -> None:
    assert violations(path, (ROOT / path).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("sdyopt/ir/types.py", "from sdyopt.interning import Interned"),
        ("sdyopt/ir/types.py", "from sdyopt.ir import Op"),
        ("sdyopt/dialects/builtin.py", "from sdyopt import ir, asm"),
        ("sdyopt/registry.py", "from sdyopt.pipeline import Pass"),
        ("sdyopt/driver.py", "def run():\n    from sdyopt.report import timing"),
        ("sdyopt/cli.py", "import click\nfrom sdyopt import __version__"),
        ("sdyopt/ir/block.py", "if TYPE_CHECKING:\n    from sdyopt.ir.operation import Op"),
        ("passes/common/cse.py", "from sdyopt.ir import Op\nfrom .effects import x\nfrom ..mesh import y"),
        ("passes/pipelines/import_pipeline.py", "from ..common import cse"),
    ],
)
def test_what_is_allowed(path: str, source: str) -> None:
    assert violations(path, source) == []


@pytest.mark.parametrize(
    ("path", "source", "complaint"),
    [
        ("sdyopt/interning.py", "from sdyopt.ir import Op", "interning may not import ir"),
        ("sdyopt/ir/types.py", "import sdyopt.asm.parser.module_parser", "ir may not import asm"),
        ("sdyopt/ir/types.py", "from sdyopt import asm", "ir may not import asm"),
        ("sdyopt/ir/types.py", "from ..dialects import func", "ir may not import dialects"),
        ("sdyopt/sharding/axis_lists.py", "import sdyopt.registry", "sharding may not import registry"),
        ("sdyopt/report/mesh.py", "import sdyopt.driver", "report may not import driver"),
        ("sdyopt/__init__.py", "from sdyopt.ir import Op", "the package itself may not import ir"),
        ("passes/common/cse.py", "import sdyopt.driver", "passes may not import driver"),
        ("sdyopt/ir/op.py", "def f():\n    from sdyopt.asm import print_op", "hides a cycle"),
        ("sdyopt/ir/op.py", "if TYPE_CHECKING:\n    import sdyopt.asm", "hides a cycle"),
        ("sdyopt/driver.py", "import rich.table", "uses rich"),
        ("sdyopt/dialects/func.py", "from lark import Lark", "uses lark"),
        ("sdyopt/driver.py", "import click", "uses click"),
        ("sdyopt/driver.py", "import passes.common", "names `passes`"),
        ("sdyopt/registry.py", "from sdyopt import passes", "names `sdyopt.passes`"),
        ("passes/common/cse.py", "from passes.mesh import x", "names a sibling absolutely"),
        ("passes/common/cse.py", "from sdyopt.passes.mesh import x", "names `sdyopt.passes`"),
        ("passes/common/cse.py", "from ...ir import Op", "names the core relatively"),
        ("sdyopt/utilities.py", "", "no known layer"),
    ],
)
def test_what_is_rejected(path: str, source: str, complaint: str) -> None:
    [found] = violations(path, source)
    assert complaint in found


def test_passes_have_one_home() -> None:
    """A wheel puts passes/ at sdyopt/passes, which therefore must not exist in a checkout."""
    assert not (ROOT / "sdyopt" / "passes").exists()
    assert not (ROOT / "sdyopt" / "passes.py").exists()
    assert (ROOT / "sdyopt" / "py.typed").exists()
    assert (ROOT / "passes" / "py.typed").exists()


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import sdyopt; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["sdyopt"]
