"""Programs in memory: attributes and types, operations, and what can be done with any of them.

What does not change is in `attribute`, `types`, `elements` and `form`; what does, in `operation`, `block`
and `value`, edited through `rewrite` alone. `dialect`, `fields` and `traits` declare operations,
`verify` checks them, `patterns` rewrites them. None of it knows a dialect, or text.
"""
