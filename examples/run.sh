#!/usr/bin/env bash
# Runs Shardy's whole pipeline on the example program: run.sh COMMAND…, where COMMAND runs sdy-opt.
# examples/README.md describes the steps.
set -euo pipefail

exec "$@" "$(dirname "$0")/transformer_train.mlir" \
  -sdy-propagation-pipeline=enable-insert-explicit-collectives=true
