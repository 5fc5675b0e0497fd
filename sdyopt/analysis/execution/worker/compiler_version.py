"""The task `compiler_version`: which compiler this Python has. Nothing is imported that is slow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any

# The package that has the compiler of a platform.
_PACKAGES = {"tpu": "libtpu", "cuda": "jax-cuda12-plugin", "cpu": "jaxlib"}


def answer(request: Mapping[str, Any], _: Callable[[Mapping[str, Any]], None]) -> dict[str, Any]:
    """The compiler first, such as `libtpu 0.0.52`, and jaxlib, which reads the program."""
    versions = []
    for package in dict.fromkeys((_PACKAGES[request["platform"]], "jaxlib")):
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            return {"cannot": f"has no {package}"}
    return {"versions": versions}
