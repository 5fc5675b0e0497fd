#!/usr/bin/env bash
# Runs all of Shardy on the example program: run.sh SDY_OPT…, where SDY_OPT is the sdy-opt command.
# examples/README.md describes the steps.
set -euo pipefail

exec "$@" "$(dirname "$0")/transformer_train.mlir" \
  -sdy-propagation-pipeline=enable-insert-explicit-collectives=true
