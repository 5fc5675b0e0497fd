// Findings in the formats for tools have ids that start with `lint/`.
// RUN: sdy-opt %s --lint --lint-config=- --diagnostics-format=sarif 2>&1 >%t | filecheck %s --check-prefix=SARIF
// RUN: sdy-opt %s --lint --lint-config=- --diagnostics-format=json 2>&1 >%t | filecheck %s --check-prefix=JSON
// RUN: sdy-opt %s --lint --lint-config=- --diagnostics-format=github 2>&1 >%t | filecheck %s --check-prefix=GITHUB

// SARIF:      "id": "lint/uneven-sharding"
// SARIF-NEXT: "shortDescription": {
// SARIF-NEXT:   "text": "a dimension is sharded along axes that do not divide it"
// SARIF:      "level": "warning"
// SARIF:      "text": "dimension 0 of argument 0 of @main has size 10

// JSON: "id": "lint/uneven-sharding"
// JSON: "severity": "warning"

// GITHUB: ::warning file={{.*}}formats.mlir,line=18,{{.*}}title=lint/uneven-sharding::dimension 0
sdy.mesh @mesh = <["x"=4]>

func.func @main(%a: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  return
}
