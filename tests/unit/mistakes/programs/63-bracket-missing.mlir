// The list of the axes of a mesh is not closed.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["x"=2, "y"=2>
