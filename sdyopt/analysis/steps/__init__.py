"""The steps of propagation as one HTML file: the program, a slider, and the factor table of each step."""
