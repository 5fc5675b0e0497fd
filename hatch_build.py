"""Build hook: adds an SBOM and the LALR tables to the wheel, so that no run must generate the tables."""

import json
import re
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SBOM = "sdy-opt.cdx.json"


class WheelFiles(BuildHookInterface):
    """Writes the generated files of a wheel; a checkout generates its own tables.

    The SBOM becomes `sboms/sdy-opt.cdx.json` in the metadata of the wheel.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        # The root of the checkout is not on the path before.
        from sdyopt.mlir.asm.parser.attributes.lr_parser import (  # noqa: PLC0415
            SHIPPED,
            build_tables,
            write_tables,
        )

        path = Path(self.directory) / SHIPPED.name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_tables(build_tables(), path)
        build_data["force_include"][str(path)] = str(SHIPPED.relative_to(self.root))
        sbom = Path(self.directory) / SBOM
        sbom.write_text(sbom_text(self.metadata), encoding="utf-8")
        build_data["sbom_files"].append(str(sbom))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Leaves the folder to the wheel: a release uploads all that is in it."""
        if version != "editable":
            for path in (*build_data["sbom_files"], *build_data["force_include"]):
                if Path(path).parent == Path(self.directory):
                    Path(path).unlink()


def sbom_text(metadata: Any) -> str:
    """A CycloneDX SBOM of the package and what it depends on, without times: builds are reproducible."""
    core = metadata.core
    root = f"pkg:pypi/{core.name}@{metadata.version}"
    required = list(map(_component, core.dependencies))
    extras = {
        name: list(map(_component, dependencies)) for name, dependencies in core.optional_dependencies.items()
    }
    components = {each["bom-ref"]: each for each in required}
    for name, found in extras.items():
        for each in found:
            extra = {
                "scope": "optional",
                "properties": [*each["properties"], {"name": "sdyopt:extra", "value": name}],
            }
            components.setdefault(each["bom-ref"], {**each, **extra})
    components.pop(f"pkg:pypi/{core.name}", None)
    sbom = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": core.name,
                "version": metadata.version,
                "purl": root,
                "licenses": [{"license": {"id": core.license_expression or core.license}}],
            }
        },
        "components": list(components.values()),
        "dependencies": [{"ref": root, "dependsOn": [each["bom-ref"] for each in required]}],
    }
    return json.dumps(sbom, indent=2) + "\n"


def _component(requirement: str) -> dict[str, Any]:
    """The package of a requirement. Which version is installed is not known; the range is a property."""
    match = re.match(r"[\w.-]+", requirement)
    assert match is not None
    name = re.sub(r"[-_.]+", "-", match[0]).lower()
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}",
        "name": name,
        "purl": f"pkg:pypi/{name}",
        "properties": [{"name": "sdyopt:requirement", "value": requirement}],
    }
