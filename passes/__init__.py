"""The passes, one per file. A file has the name of its pass's flag, without a prefix such as `sdy-`.

    common/       passes for any stage (canonicalize, cse, sdy-report, …)
    importing/    run before propagation: bring a program into the form that propagation expects
    propagation/  propagate shardings through a module
    exporting/    run after propagation: insert reshards and collectives, remove what propagation needed
    partitioning/ convert a program on global tensors to the program that each device runs
    mesh/         the passes of MLIR's mesh dialect
    stablehlo/    the passes of stablehlo-opt: refined shapes, folds, simplifications, CHLO
    portability/  convert between StableHLO and its versioned form, which portable artifacts have
    xla/          the passes of XLA before and after Shardy: shardings as HLO has them
    pipelines/    named pipelines of these passes, with the reason for their order

Folders in these have what several passes share: `common/support/` for passes of several folders.

The registry finds passes by walking the package: a new file with a `@register`ed class adds a flag.
"""
