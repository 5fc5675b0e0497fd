"""What is told about a program: figures, records and notations, and the analyses that show them."""
