// Errors underline the part of the text that is wrong. They are usage errors, with exit status 2.
// RUN: not sdy-opt --show-sharding='<@mesh, [{"x"}, {"z"}]>' --mesh=x=4 2>&1 | filecheck %s --check-prefix=AXIS
// AXIS:      --show-sharding:1:18: error: unknown axis name: "z"
// AXIS-NEXT: <@mesh, [{"x"}, {"z"}]>
// AXIS-NEXT: {{^ {17}\^~~$}}
// AXIS-NEXT: help: the mesh has "x"=4

// RUN: not sdy-opt --show-sharding='{devices=[2,2]<=[2,4]T(1,0)}' 2>&1 | filecheck %s --check-prefix=COUNT
// COUNT:      --show-sharding:1:17: error: [2,4] has 8 devices, but the tiles have 4
// COUNT-NEXT: {devices=[2,2]<=[2,4]T(1,0)}
// COUNT-NEXT: {{^ {16}\^~~~~$}}
// COUNT-NEXT: help: make the products of both lists equal

// RUN: not sdy-opt --show-sharding='P(x)' --mesh=x=4 2>&1 | filecheck %s --check-prefix=QUOTES
// QUOTES:      --show-sharding:1:3: error: expected an axis name in quotes
// QUOTES:      help: write 'x'

// RUN: not sdy-opt --show-sharding='<@mesh, [[2]]>' --mesh=x=4 2>&1 | filecheck %s --check-prefix=NUMBER
// NUMBER:      --show-sharding:1:11: error: axis 2 is not in the mesh
// NUMBER:      help: the mesh has one axis, 0

// A sharding with named axes needs a mesh.
// RUN: not sdy-opt --show-sharding="P('x')" 2>&1 | filecheck %s --check-prefix=NO-MESH
// NO-MESH:      error: the mesh of this sharding is unknown
// NO-MESH:      help: give it with --mesh='"x"=4, "y"=2', or a program that has it

// RUN: not sdy-opt --show-sharding="P('x')" --mesh='"x"=2 "y"=2' 2>&1 | filecheck %s --check-prefix=MESH
// MESH:      --mesh:1:7: error: unexpected text
// MESH-NEXT: "x"=2 "y"=2
// MESH-NEXT: {{^ {6}\^~~~~$}}

// RUN: not sdy-opt --show-sharding="P('x')" --mesh=x=2 --shape=8,8 2>&1 | filecheck %s --check-prefix=SHAPE
// SHAPE:      --shape:1:2: error: unexpected text
// SHAPE:      help: such as --shape=64x128

// RUN: not sdy-opt --show-sharding=replicated 2>&1 | filecheck %s --check-prefix=UNKNOWN
// UNKNOWN:      error: unknown notation of a sharding
// UNKNOWN:      help: write {{.*}}{devices=[2,1]<=[2]}{{.*}}

// Values that the program does not have.
// RUN: not sdy-opt %s --show-sharding='@mian %arg0' 2>&1 | filecheck %s --check-prefix=FUNCTION
// FUNCTION:      --show-sharding:1:1: error: no function of this name
// FUNCTION:      help: did you mean '@main'?
// RUN: not sdy-opt %s --show-sharding='%arg7' 2>&1 | filecheck %s --check-prefix=VALUE
// VALUE:      --show-sharding:1:1: error: no value of this name in the printed program
// VALUE:      help: did you mean '%arg0'?
// RUN: not sdy-opt %s --show-sharding='@main result 1' 2>&1 | filecheck %s --check-prefix=RESULT
// RESULT:     --show-sharding:1:7: error: the function has 1 result

// The other flags belong to --show-sharding.
// RUN: not sdy-opt %s --mesh=x=2 2>&1 | filecheck %s --check-prefix=ALONE
// ALONE: sdy-opt: for the --mesh option: requires --show-sharding
// RUN: not sdy-opt %s --show-sharding='%arg0' --report 2>&1 | filecheck %s --check-prefix=REPORT
// REPORT: sdy-opt: the --report option cannot be used with --show-sharding

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
