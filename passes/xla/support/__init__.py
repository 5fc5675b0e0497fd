"""What several of XLA's passes use: shardings in HLO, and frontend attributes."""
