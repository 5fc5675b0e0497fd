"""Passes of XLA before and after Shardy: shardings as HLO has them, imported and exported."""
