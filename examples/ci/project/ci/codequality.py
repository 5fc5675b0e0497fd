"""Converts diagnostics of sdy-opt to a code quality report of GitLab.

python ci/codequality.py DIAGNOSTICS.json … > codequality.json
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

SEVERITIES = {"error": "major", "warning": "minor", "remark": "info"}


def finding(diagnostic: dict[str, Any]) -> dict[str, Any]:
    """A diagnostic as an entry of GitLab's code quality report, whose fingerprint ignores the line."""
    location = diagnostic["location"] or {"file": "unknown", "line": 1}
    if not Path(location["file"]).is_file() and diagnostic["input_location"]:
        location = diagnostic["input_location"]
    key = "\0".join([diagnostic["id"], location["file"], diagnostic["message"]])
    return {
        "description": diagnostic["message"],
        "check_name": diagnostic["id"],
        "fingerprint": hashlib.sha256(key.encode()).hexdigest(),
        "severity": SEVERITIES[diagnostic["severity"]],
        "location": {"path": location["file"], "lines": {"begin": location["line"] or 1}},
    }


reports = [json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:]]
print(json.dumps([finding(each) for report in reports for each in report["diagnostics"]], indent=2))
