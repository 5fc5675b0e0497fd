"""The passes, one per file. A file has the name of its pass's flag, without the dialect prefix.

    common/       dialect-independent passes (canonicalize, cse, symbol-dce, …) and shared helpers in support/
    importing/    run before propagation: bring a program into the form that propagation expects
    propagation/  propagate the user's shardings to all values
    exporting/    run after propagation: insert reshards and collectives, remove what propagation needed
    mesh/         the passes of MLIR's mesh dialect
    pipelines/    named pipelines of these passes

The registry finds passes by walking the package: a new file with a `@register`ed class adds a flag.
"""
