"""Passes that convert between StableHLO and its versioned form, which portable artifacts have."""
