// Remarks are the record of propagation as data, with the flags of mlir-opt. A filter is a regular expression of
// categories; the program is still printed on stdout.

// RUN: sdy-opt %s -sdy-propagation-pipeline --remarks-filter=propagation 2>&1 >%t.mlir | filecheck %s --check-prefix=ALL
// RUN: filecheck %s --input-file=%t.mlir --check-prefix=PROGRAM

// An axis that propagates along an operation has passed.
// ALL: remarks.mlir:32:8: remark: [Passed] axis-propagated | Category:propagation | Function=main |
// ALL-SAME: Axis="x", Dimension=0, Direction=forward, Factor=0, FromDimension=0, FromValue=%a,
// ALL-SAME: Operation=stablehlo.add, Priority=0, Remark=""x" shards dimension 0 of %0: from dimension 0 of %a, forward
// ALL-SAME: along stablehlo.add", Round=1, Strategy=aggressive, Value=%0

// An operation without a sharding rule fails to propagate anything.
// ALL: remarks.mlir:33:8: remark: [Failure] no-sharding-rule | Category:propagation | Function=main |
// ALL-SAME: Axis="x", FromDimension=0, FromValue=%0, Operation=stablehlo.custom_call,
// ALL-SAME: Reason="it has no sharding rule, so nothing propagates along it"

// One that does not though a neighbor has it is missed, for a reason.
// ALL: remarks.mlir:32:8: remark: [Missed] axis-not-propagated | Category:propagation | Function=main |
// ALL-SAME: Axis="x", Dimension=0, FromDimension=0, FromValue=%a, Operation=stablehlo.add,
// ALL-SAME: Reason="dimension 0 of %b is closed",
// ALL-SAME: Remark=""x" does not shard dimension 0 of %b, though it shards dimension 0 of %a and %0", Value=%b
// There is no suggestion: --explain has what to write, because it tries that on the program.

// PROGRAM: stablehlo.add %arg0, %arg1 {{.*}}<@mesh, [{"x"}]>

sdy.mesh @mesh = <["x"=2]>

func.func @main(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  %1 = stablehlo.custom_call @unknown(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// Each kind has a filter of its own.
// RUN: sdy-opt %s -sdy-propagation-pipeline --remarks-filter-passed=propagation 2>&1 | filecheck %s --check-prefix=PASSED
// PASSED-NOT: remark: {{\[(Missed|Failure|Analysis)}}
// PASSED: [Passed] axis-propagated
// PASSED-NOT: remark: {{\[(Missed|Failure|Analysis)}}

// RUN: sdy-opt %s -sdy-propagation-pipeline --remarks-filter-missed=propagation 2>&1 | filecheck %s --check-prefix=MISSED
// MISSED-NOT: remark: {{\[(Passed|Failure|Analysis)}}
// MISSED: [Missed] axis-not-propagated
// MISSED-NOT: remark: {{\[(Passed|Failure|Analysis)}}

// RUN: sdy-opt %s -sdy-propagation-pipeline --remarks-filter-failed=propagation 2>&1 | filecheck %s --check-prefix=FAILED
// FAILED-NOT: remark: {{\[(Passed|Missed|Analysis)}}
// FAILED: [Failure] no-sharding-rule
// FAILED-NOT: remark: {{\[(Passed|Missed|Analysis)}}

// The analysis lists the annotations that propagation starts with. A filter matches the whole name of a category.
// RUN: sdy-opt %s -sdy-propagation-pipeline --remarks-filter-analyse='ann.*|rop' 2>&1 | filecheck %s --check-prefix=ANALYSIS
// ANALYSIS: [Analysis] annotation | Category:annotation | Function=main | From="the input %a", Priority=0,
// ANALYSIS-SAME: Remark="%a starts with [{"x"}]", Sharding="[{"x"}]", Value=%a
// ANALYSIS-NOT: Category:propagation

// Reshards are a category too: each names the operand or result that it is for.
// RUN: sdy-opt %s -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --remarks-filter=reshard 2>&1 | filecheck %s --check-prefix=RESHARD
// RESHARD: [Analysis] reshard-inserted | Category:reshard | Function=main | Inserted=sdy.reshard,
// RESHARD-SAME: Operation=stablehlo.add, Position="operand 1", Remark="sdy.reshard of %b: operand 1 of stablehlo.add
// RESHARD-SAME: needs another sharding", Value=%b

// As YAML they are in a file, which LLVM's tools read.
// RUN: sdy-opt %s -sdy-propagation-pipeline --remarks-filter-missed=.* --remark-format=yaml --remarks-output-file=%t.yaml -o %t.mlir
// RUN: filecheck %s --input-file=%t.yaml --check-prefix=YAML
// YAML:      --- !Missed
// YAML-NEXT: Pass:            propagation
// YAML-NEXT: Name:            axis-not-propagated
// YAML-NEXT: DebugLoc:        { File: {{.*}}, Line: 32, Column: 8 }
// YAML-NEXT: Function:        main
// YAML-NEXT: Args:
// YAML-NEXT:   - Remark:          '"x" does not shard dimension 0 of %b, though it shards dimension 0 of %a and %0'
// YAML-NEXT:   - Reason:          'dimension 0 of %b is closed'
// YAML:      ...
