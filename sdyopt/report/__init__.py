"""Reports on stderr: pass statistics and timing."""
