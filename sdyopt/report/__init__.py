"""Tables for people: what passes counted, and how long they took."""
