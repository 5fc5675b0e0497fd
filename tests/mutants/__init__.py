"""Changes the code in small ways and checks that a test fails: mutation testing.

`mutations` makes small edits of a syntax tree, and `mutant` makes mutants of a file from them. `targets`
names the files, and `sample` selects mutants of them. `tree` is the copy of the project that mutants are
written to. `reach` knows which lines each test executes, which `recorder` records, so that a mutant needs
only the tests that reach its line. `worker` runs these. `session` connects these parts, and
`python -m tests.mutants` runs a session.
"""
