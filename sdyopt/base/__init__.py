"""What all else uses: interned classes, the table of releases, source locations and diagnostics."""
