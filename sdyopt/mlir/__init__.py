"""A compiler infrastructure that knows nothing of partitioning: the IR, its text, dialects and pipelines."""
