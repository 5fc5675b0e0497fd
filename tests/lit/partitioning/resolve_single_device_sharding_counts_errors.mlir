// RUN: sdy-opt %s "-sdy-resolve-single-device-sharding=replica-count=2 partition-count=2" -verify-diagnostics

sdy.mesh @mesh = <["x"=2]>

// expected-error @+1 {{Shardy partitioner does not support replica_count > 1 && partition_count > 1 yet.}}
func.func @main() {
  return
}
