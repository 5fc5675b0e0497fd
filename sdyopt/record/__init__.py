"""What passes see of the sharding record: hooks that report to the active recorder, if there is one.

The record itself is `sdyopt.analysis.sharding_record`, which is imported when something is recorded.
"""
