"""The passes, one per file. A file has the name of its pass's flag, without a prefix such as `sdy-`.

    common/       passes for any stage (canonicalize, cse, sdy-report, …) and shared helpers in support/
    importing/    run before propagation: bring a program into the form that propagation expects
    propagation/  propagate shardings through a module
    exporting/    run after propagation: insert reshards and collectives, remove what propagation needed
    partitioning/ convert a program on global tensors to the program that each device runs
    mesh/         the passes of MLIR's mesh dialect
    pipelines/    named pipelines of these passes

The registry finds passes by walking the package: a new file with a `@register`ed class adds a flag.
"""
