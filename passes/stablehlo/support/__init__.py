"""What the passes of stablehlo-opt share."""
