// Runs tests.pythons.outputs under CPython 3.14, compiled to WebAssembly, in Node:
// node pyodide.mjs CHECKOUT PYODIDE SITE_PACKAGES
import { resolve } from "node:path";

const [checkout, pyodide, sitePackages] = process.argv.slice(2).map((path) => resolve(path));
const { loadPyodide } = await import(`${pyodide}/pyodide.mjs`);

const python = await loadPyodide({ stdin: () => null, env: { HOME: "/home/pyodide" } });
python.FS.mkdirTree("/checkout");
python.FS.mkdirTree("/site-packages");
python.mountNodeFS("/checkout", checkout);
python.mountNodeFS("/site-packages", sitePackages);
const status = python.runPython(`
import os, sys
from pathlib import Path
sys.path[:0] = ["/checkout", "/site-packages"]
os.chdir("/checkout")
from sdyopt.tools.cli import main as sdy_opt
if sdy_opt(["--version"]):
    raise SystemExit("sdy-opt does not start")
from tests.unit.environments.test_annotations import test_an_interned_class_has_its_fields, test_a_pass_has_its_options
test_an_interned_class_has_its_fields()
test_a_pass_has_its_options()
from tests.pythons.outputs import main
sys.argv = ["outputs", "build/pythons/expected.txt", "--compare"]
main()
`);
process.exit(status);
