"""The sharding record: how every axis came to every value, as the passes that decide it record it.

`sharding_record` describes the record, and `model` has its data. Passes see only `recorder`, `copies` and
`reshards`, which report to the active recorder, if there is one; the rest is imported when something is
recorded.
"""
