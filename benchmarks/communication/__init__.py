"""Communication of partitioned programs, compared with that of programs that XLA partitions."""
