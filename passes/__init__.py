"""The passes, one per file; a file's name is the pass's flag without its dialect prefix.

    common/       dialect-independent: canonicalize, cse, symbol-dce, …, and what several passes share
    importing/    before propagation: bring a program into the form that propagation expects
    propagation/  decide the sharding of every value from those that the user wrote
    exporting/    after propagation: put reshards and collectives where data must move, tidy up
    mesh/         the passes of MLIR's mesh dialect

Passes are found, not listed: a new file with a `@register`ed class is a new flag.
"""
