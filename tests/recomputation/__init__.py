"""Recomputes the figures of reports from the printed text of a program, without the code of reports."""
