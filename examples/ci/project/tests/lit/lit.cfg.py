"""Runs the tests in this folder with LLVM's lit, as `lit tests/lit`. pytest does not need this file.

pip install lit 'sdyopt[lit]'
"""

import os
import shutil
import sys
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
