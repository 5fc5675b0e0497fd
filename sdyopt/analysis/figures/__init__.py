"""The figures of a program: what it communicates, stores and computes on each device, and how often.

`program_report` computes all of them; `toml_file` and `json_file` read limits and earlier figures.
"""
