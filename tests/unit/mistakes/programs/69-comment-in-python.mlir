// A comment is written as in Python.
// RUN: sdy-opt %s

# a comment
func.func @f() {
  return
}
