"""The vhlo dialect object, and versions of StableHLO."""

from __future__ import annotations

import re
from typing import Final

from sdyopt.base.diagnostics.error_kind import ErrorKind
from sdyopt.mlir.ir.dialect import Dialect

vhlo = Dialect("vhlo")
vhlo.unknown_attribute = ErrorKind("unknown vhlo attribute")
vhlo.unknown_type = ErrorKind("unknown vhlo type: {mnemonic}")

# Major, minor and patch number.
Version = tuple[int, int, int]

MINIMUM: Final = (0, 9, 0)
CURRENT: Final = (1, 22, 0)

# The version of MLIR's bytecode format by the first version of StableHLO that writes it.
_BYTECODE_VERSIONS = {(0, 9, 0): 0, (0, 10, 0): 1, (0, 12, 0): 3, (0, 14, 0): 4, (0, 15, 0): 6}

_VERSION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})")


def version_of(text: str) -> Version | None:
    """The version of a text such as `1.9.0`; None if it is none."""
    match = _VERSION.fullmatch(text)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


def version_text(version: Version) -> str:
    """The text of a version, such as `1.9.0`."""
    return ".".join(map(str, version))


def bytecode_version(version: Version) -> int:
    """The version of the bytecode format of artifacts of a version of StableHLO."""
    return next(number for first, number in reversed(_BYTECODE_VERSIONS.items()) if first <= version)
