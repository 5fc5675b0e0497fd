"""Runs the tests in this folder with LLVM's lit, as `lit tests/lit`. pytest does not need this file.

pip install lit 'sdy-opt[lit]'
"""

import os
import shutil
import sys
import tomllib
from pathlib import Path

import lit.formats

FOLDER = Path(__file__).parent
# sdy-opt and filecheck are beside the Python that runs lit.
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

config.name = "sdy-opt"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = str(FOLDER)
config.test_exec_root = str(FOLDER / "Output")
config.environment["PATH"] = PATH

# Without LLVM's FileCheck, the Python package filecheck stands in for it.
for name in ("FileCheck", "FileCheck-21", "FileCheck-20", "FileCheck-19", "filecheck"):
    if shutil.which(name, path=PATH):
        config.substitutions.append((r"\bFileCheck\b", name))
        break

# The plugins that pyproject.toml lists are loaded here as by pytest.
project = next(folder / "pyproject.toml" for folder in FOLDER.parents if (folder / "pyproject.toml").exists())
options = tomllib.loads(project.read_text()).get("tool", {}).get("pytest", {}).get("ini_options", {})
if options.get("sdyopt_plugins"):
    for name in ("sdy-opt", "sdy-opt-verify"):
        word = rf"(?<![\w./-]){name}(?![\w.-])"
        config.substitutions.append((word, f"{name} --load-plugin={project}"))
