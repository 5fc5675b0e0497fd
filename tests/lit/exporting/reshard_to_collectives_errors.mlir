// RUN: sdy-opt %s --sdy-version=jaxlib-0.10.2 -allow-unregistered-dialect -split-input-file -sdy-reshard-to-collectives -verify-diagnostics

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @one_device = <[], device_ids=[0]>

// A sharded value cannot be resharded to a maximal mesh; since jaxlib 0.11.2, such a reshard is kept.
func.func @to_one_device(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error-re @+1 {{failed to legalize operation 'sdy.reshard' that was explicitly marked illegal: %0 = "sdy.reshard"(%arg0) {{.*}}@one_device}}
  %0 = sdy.reshard %a <@one_device, []> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @twin = <["x"=2]>

// Meshes may differ in device order only.
func.func @twin_mesh(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> { // expected-note {{operand mesh: #sdy.mesh<["x"=2]>}}
  // expected-error @+1 {{'sdy.collective_permute' op result mesh name is different but same device ids as operand}}
  %0 = sdy.reshard %a <@twin, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <["a"=2]>

// The first reshard is redundant and removed; then the second one has two different meshes.
func.func @between_meshes_with_other_axes(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{}]>}) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}]> : tensor<8xf32>
  // expected-error @+1 {{failed to legalize operation 'sdy.reshard' that was explicitly marked illegal: %1 = "sdy.reshard"(%0)}}
  %1 = sdy.reshard %0 <@mesh, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// In a graph region, the operand of a reshard may be its own result.
func.func @of_itself() {
  "test.graph"() ({
    // expected-error @+1 {{'sdy.reshard' op cannot be replaced: its replacement is its own result}}
    %0 = sdy.reshard %0 <@mesh, [{"x"}]> : tensor<8xf32>
  }, {}) : () -> ()
  return
}
