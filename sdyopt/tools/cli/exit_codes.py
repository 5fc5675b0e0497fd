"""The exit codes of the commands."""

SUCCESS, FAILURE, WRONG_USAGE, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143
