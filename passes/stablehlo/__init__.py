"""Passes of stablehlo-opt on StableHLO itself: shapes that are refined, folds, simplifications, CHLO."""
