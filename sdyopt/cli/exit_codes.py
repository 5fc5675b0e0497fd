"""The exit codes of the commands."""

SUCCESS, FAILURE, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130
