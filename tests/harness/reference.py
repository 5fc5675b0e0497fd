"""The C++ passes that results are compared with, those of the installed jaxlib or of another Python's."""

import subprocess
from functools import cache
from importlib.util import find_spec

from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.base.releases import RELEASES


def is_installed() -> bool:
    """Whether jaxlib, which contains the C++ passes, is installed."""
    return find_spec("jaxlib") is not None


@cache
def release_in(python: str) -> str:
    """The name of the release of Shardy in a Python with jaxlib. Raises UsageError if it is not followed."""
    program = "import jaxlib; print(f'jaxlib-{jaxlib.__version__}')"
    name = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True).stdout.strip()
    followed = [release.name for release in RELEASES]
    if name not in followed:
        raise UsageError(
            f"{python} has {name}, which is not followed", f"install one of {', '.join(followed)}"
        )
    return name
