"""Named pipelines: sequences of passes, and why each stands where it does."""
