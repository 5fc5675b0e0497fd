"""Answers why a value is sharded as it is, and why it is not sharded otherwise, from a sharding record.

`explainer` is the entry: it starts a record before the pipeline, and answers questions after it. `targets`
finds what a question is about, `answers` builds a tree of sentences, and `tree_text` prints it.
"""
