"""Named pipelines: sequences of passes, with the reason for their order."""
