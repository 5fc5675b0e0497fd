"""Reports: the figures of a program as text and files, and the checks of a budget and a baseline."""
