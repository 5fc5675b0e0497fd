"""Snapshots: the shardings of a program as a file with a line for each value, and the check against one."""
