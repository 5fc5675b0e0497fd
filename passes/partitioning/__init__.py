"""Passes that convert a program on whole tensors to the program that each device runs."""
