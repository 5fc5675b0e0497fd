"""Passes for any stage of a pipeline, and in support/ the helpers that passes of several folders share."""
