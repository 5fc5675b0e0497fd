"""The axes that all operands and results of one operation can share, factor by factor."""
