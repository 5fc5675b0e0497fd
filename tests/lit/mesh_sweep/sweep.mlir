// RUN: sdy-opt %s --mesh-sweep='x=1..4 × y=1,2' --device-memory=30KiB | filecheck %s
// RUN: sdy-opt %s --mesh-sweep='x=2 x y=2' -sdy-jax-pipeline | filecheck %s --check-prefix=ONE
// RUN: sdy-opt %s --mesh-sweep='x=128' | filecheck %s --check-prefix=UNDIVIDED
// RUN: sdy-opt %s --mesh-sweep='x=2..4' --mesh-sweep-output=%t.json && filecheck %s --check-prefix=JSON --input-file=%t.json
// RUN: sdy-opt %s --mesh-sweep='x=2..4' --mesh-sweep-output=%t.md && filecheck %s --check-prefix=MARKDOWN --input-file=%t.md
// RUN: sdy-opt %s --mesh-sweep='x=2..4' --mesh-sweep-output=%t.html --topology=tpu-v5e && filecheck %s --check-prefix=PAGE --input-file=%t.html
// RUN: sdy-opt %s --mesh-sweep='x=4 x y=8' --topology=h100 | filecheck %s --check-prefix=LAYOUTS
// RUN: sdy-opt %s --mesh-sweep='x=2 x y=16' --topology=tpu-v5e:4x4,slices=2 | filecheck %s --check-prefix=SLICES
// RUN: sdy-opt %s --mesh-sweep='x=2' --topology=h100 | filecheck %s --check-prefix=NO-LAYOUTS
// RUN: sdy-opt %s --mesh-sweep='x=2 x y=16' --topology=tpu-v5e:4x4,slices=1 | filecheck %s --check-prefix=LARGE
// RUN: sdy-opt %s --mesh-sweep='x=3 x y=5' --topology=tpu-v5e | filecheck %s --check-prefix=NONE
// RUN: sdy-opt %s --check --topology=tpu-v5e:4x4 | filecheck %s --check-prefix=IDLE
// RUN: not sdy-opt %s --mesh-sweep='x=2' --mesh-sweep-output=%t.csv 2>&1 | filecheck %s --check-prefix=FORMAT
// RUN: not sdy-opt %s --mesh-sweep='x=2 x z=2' 2>&1 | filecheck %s --check-prefix=AXIS
// RUN: not sdy-opt %s --mesh-sweep='x=2 y=2' 2>&1 | filecheck %s --check-prefix=SEPARATOR
// RUN: not sdy-opt %s --mesh-sweep='x=8..2' 2>&1 | filecheck %s --check-prefix=RANGE
// RUN: not sdy-opt %s --mesh-sweep='y=2 x x=1..' 2>&1 | filecheck %s --check-prefix=END
// RUN: not sdy-opt %s --mesh-sweep='x=1..2..4' 2>&1 | filecheck %s --check-prefix=SIZE
// RUN: not sdy-opt %s --mesh-sweep='x=1..4' --check 2>&1 | filecheck %s --check-prefix=BOTH

// The same program on meshes of other sizes and shapes, each with what it sends and stores; the best of those
// that fit, for each number of devices.

// CHECK:      x y devices FLOPs sent memory
// CHECK-NEXT: 1 1 1 524.3 kFLOP 0 B 48.0 KiB {{█+}} does not fit
// CHECK-NEXT: 1 2 2 262.1 kFLOP 0 B 32.0 KiB {{█+}} does not fit
// CHECK-NEXT: 2 1 2 262.1 kFLOP 8.00 KiB 40.0 KiB {{█+}} does not fit
// CHECK-NEXT: 2 2 4 131.1 kFLOP 4.00 KiB 24.0 KiB {{█+}} best of 4
// CHECK-NEXT: 4 1 4 131.1 kFLOP 12.0 KiB 28.0 KiB {{█+$}}
// CHECK-NEXT: 4 2 8 65.5 kFLOP 6.00 KiB 16.0 KiB {{█+}} best of 8
// CHECK:      best: fits in 30.0 KiB, fewest bytes sent, for each number of devices; global shapes are the same
// CHECK-NEXT: 4 devices x=2 × y=2 131.1 kFLOP 4.00 KiB sent, 24.0 KiB
// CHECK-NEXT: 8 devices x=4 × y=2 65.5 kFLOP 6.00 KiB sent, 16.0 KiB

// ONE: 2 2 4 131.1 kFLOP 4.00 KiB 24.0 KiB {{█+}} best

// UNDIVIDED: 128 256 {{.*}} does not divide batch

// JSON:      "schema": "sdy-opt-mesh-sweep",
// JSON:      "x": 4
// JSON:      "devices": 8,
// JSON-NEXT: "wire_bytes": 6144,
// JSON:      "seconds": null,
// JSON:      "fits": true,
// JSON-NEXT: "is_best": true

// MARKDOWN: ### best: fewest bytes sent, for each number of devices
// MARKDOWN: | 4 | 8 | 65.5 kFLOP | 6.00 KiB | 16.0 KiB |

// PAGE: <p>2 meshes of other sizes, topology tpu-v5e</p>
// PAGE: best of 8 devices

// The axes of the best mesh may lie on the machine in several ways.
// LAYOUTS:      layouts of x=4 × y=8, by the order of the axes of the mesh
// LAYOUTS-NEXT: {{[0-9.]+ us}} y, x x on a node (4); y on a node (2) and the network (4)
// LAYOUTS-NEXT: {{[0-9.]+ us}} x, y (as it is) x on the network (4); y on a node (8)
// SLICES:      layouts of x=2 × y=16
// SLICES-NEXT: y, x x on x (2 of 4); y on y (4) and x (2 of 4, 2 apart) and slices (2)
// SLICES-NEXT: x, y (as it is) x on slices (2); y on y (4) and x (4)
// LARGE: 2 16 tpu-v5e:4x4,slices=1 has 16 devices, and the program 32
// NO-LAYOUTS-NOT: layouts

// A mesh that no argument fits is not the best, and a machine may have more devices than a mesh.
// NONE:      3 5 15
// NONE-NEXT: does not divide batch; 1 of 16 devices of tpu-v5e:4x4 is idle
// NONE:      no mesh of these can run the program: does not divide batch
// NONE-NOT:  best
// IDLE:      machine {{.*}} of 16 devices of tpu-v5e:4x4 are idle

// FORMAT:      .csv' has the suffix of no sweep format
// FORMAT-NEXT: help: choose from .html, .json, .md, .txt

// AXIS:      --mesh-sweep:1:7: error: the program has no mesh axis 'z'
// AXIS-NEXT: x=2 x z=2
// AXIS-NEXT: ^
// AXIS-NEXT: help: choose from x, y

// SEPARATOR: for the --mesh-sweep option: 'y=2' is not a separator and an axis

// RANGE: for the --mesh-sweep option: the range '8..2' is empty
// END:      the range of 'x' has no end
// END-NEXT: help: write its largest size, such as 'x=1..64'
// SIZE: for the --mesh-sweep option: '1..2..4' is not a size

// BOTH: the --mesh-sweep option cannot be used with --check

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(
    %arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("batch"),
    %arg1: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>} loc("params['w']"))
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
