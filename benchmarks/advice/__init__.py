"""Applies the help of lint and explanations to programs, and checks what it says."""
