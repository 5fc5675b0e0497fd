#!/usr/bin/env bash
# Runs a pipeline on the example program: run.sh SDY_OPT…, where SDY_OPT is the command to use.
# The pipeline is explained in README.md beside this file.
set -euo pipefail

exec "$@" "$(dirname "$0")/transformer_train.mlir" \
  -sdy-lift-inlined-meshes \
  -canonicalize \
  -cse \
  -symbol-dce \
  -sdy-sharding-constraint-to-reshard \
  -sdy-close-shardings
