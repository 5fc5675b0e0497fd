"""The in-memory IR: attributes, types, operations, and the algorithms that work on any of them.

Immutable parts are in `attribute`, `types`, `elements_attributes` and `op_signature`; mutable ones in
`operation`, `block` and `value`, which only `rewrite` edits. `dialect`, `op_fields` and `traits` declare
operations, `verify` checks them, `patterns` rewrites them. Nothing here depends on a dialect or on text.
"""
