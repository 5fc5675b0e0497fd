"""What `sdy-insert-explicit-reshards` is made of."""
