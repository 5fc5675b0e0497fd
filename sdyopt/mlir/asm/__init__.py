"""MLIR's textual format: parsing and printing of operations, attributes, types and locations.

`parser.module_parser` parses a source, `printer.asm_printer` prints an operation. A dialect declares the
assembly formats of its operations and attributes with the elements in `format`, which both parse and
print. Repeated statements are parsed once (`parser.statement_cache`).
"""
