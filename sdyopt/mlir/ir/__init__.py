"""The in-memory IR: attributes, types, operations, and the algorithms that work on any of them.

Immutable parts are in `attribute` and `…_attributes`, `affine`, `types` and `op_signature`; mutable ones in
`operation`, `block` and `value`, edited through `rewrite`. `dialect`, `op_fields` and `traits` declare
operations, `verify` checks them, `patterns` rewrites them. Nothing here depends on a particular dialect, the
parser or the printer.
"""
