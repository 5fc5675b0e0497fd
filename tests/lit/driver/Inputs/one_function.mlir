func.func @function() {
  return
}
