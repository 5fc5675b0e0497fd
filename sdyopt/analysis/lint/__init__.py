"""Lint: located findings about what a sharded program wastes, each from a rule with a stable id.

    linter = Linter(settings, source, dialects, options)
    findings = linter.run(program as read, program after its pipeline)

A rule is a file in `rules/`. It looks at the program as it was read, at the program with collectives, or at
trials: changed copies that are partitioned again.
"""
