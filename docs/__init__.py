"""What is said about sdy-opt, and the scripts that write the parts that can be derived."""
