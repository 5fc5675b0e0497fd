"""The entry point of the pytest plugin: declares its options and hooks.

The plugin collects nothing unless the option `sdyopt_lit_paths` names files or folders.
"""

from __future__ import annotations

import os
from importlib import import_module

import pytest

from sdyopt.tools.lit import hooks
from sdyopt.tools.lit.hooks import FILECHECK, PATHS, PLUGINS, TIMEOUT


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    # Excludes sdyopt from the rewriting of assertions, which pytest does in the packages of all plugins.
    # Without bytecode files, rewriting would delay tests that import sdyopt by a second.
    rewritten: set[str] = getattr(pluginmanager.rewrite_hook, "_must_rewrite", set())
    rewritten.discard("sdyopt")
    parser.addini(PATHS, "files and folders of lit tests: .mlir files with RUN lines", "paths", [])
    parser.addini(PLUGINS, "plugins of sdy-opt that lit tests load: Python files, entry points", "args", [])
    parser.addini(TIMEOUT, "seconds that a program of a RUN line may take", "string", "60")
    parser.addini(
        FILECHECK, "the program that is run for FileCheck; default: the package filecheck", "string", ""
    )


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hooks)


def pytest_configure(config: pytest.Config) -> None:
    if config.getini(PATHS):
        # Output is as wide in every environment; Python's readline sets the variable for other processes.
        os.environ.pop("COLUMNS", None)
        os.unsetenv("COLUMNS")
        # Runs of pytest without lit tests do not import the runner.
        collection = import_module("sdyopt.tools.lit.collection")
        config.pluginmanager.register(collection.LitPlugin(config), "sdyopt-lit-collection")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Says why a lit test that is named on the command line is not found."""
    if config.getini(PATHS) or not any(".mlir" in argument for argument in config.args):
        return None
    return f"sdyopt: lit tests are collected only with the option {PATHS}, such as -o {PATHS}=."
