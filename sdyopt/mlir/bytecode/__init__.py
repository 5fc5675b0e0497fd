"""MLIR bytecode: the binary form of programs, read and written.

`encodings` declares how an attribute or type is encoded, once for both directions; each dialect has its table
in `…_encodings.py`. `attribute_table` decodes the entries of a file on demand, `reader` its sections and
`ir_reader` its operations. `writer` writes what `ir_numbering` has numbered. The format is described at
https://mlir.llvm.org/docs/BytecodeFormat.
"""
