// The compiler of a machine is asked for a program: without the machine, but with libtpu in some Python. Here, a
// program stands for that Python, and says for a product over a sharded dimension what a TPU sends and stores.

// RUN: env XDG_CACHE_HOME= HOME= sdy-opt %s --compiled --topology=tpu-v5e --jax-python=%S/Inputs/compiler | filecheck %s
// CHECK:      compiled by libtpu 9.9 for v5e:2x2
// CHECK-NEXT:   1.50 KiB on the wire per device, 1.12 KiB estimated
// CHECK-NEXT:   16.5 KiB of memory at the peak, {{[0-9.]+ KiB}} estimated
// CHECK-NEXT:   8.19 kFLOP in products, 8.19 kFLOP estimated
// CHECK-NEXT:   arguments 6.00 KiB, results that take no argument's place 2.00 KiB, temporaries 8.50 KiB
// CHECK-NEXT:   fits in 15.8 GiB of device memory: 16.5 KiB with all arguments
// CHECK:        4.00 KiB  dot_general (%all-reduce) {{.*}} f.py:7 {{.*}} f32[8,32]
// CHECK:        4.00 KiB  w {{.*}} bf16[16,32]
// CHECK:      1 of 1 collectives are the same in XLA's program

// RUN: env XDG_CACHE_HOME= HOME= sdy-opt %s --check --compiled --topology=tpu-v5e:4x4 --jax-python=%S/Inputs/compiler | filecheck %s --check-prefix=CHECKED
// CHECKED:      communication  1.50 KiB sent by each of 4 devices, 1.12 KiB estimated: 100% all_reduce along x
// CHECKED-NEXT: memory         16.5 KiB at the peak, {{[0-9.]+ KiB}} estimated, fits in 15.8 GiB
// CHECKED-NEXT: compute        8.19 kFLOP per device, 100% of them useful
// CHECKED:      1. f.py:7: 1.50 KiB, 1.12 KiB estimated (100%) sent in all_reduce along x
// CHECKED:      figures of libtpu 9.9 for v5e:4x4; times are estimated

// The headlines of a page are those of the compiler, too.
// RUN: env XDG_CACHE_HOME= HOME= sdy-opt %s --report=%t.html --compiled --topology=tpu-v5e --jax-python=%S/Inputs/compiler -o /dev/null
// RUN: filecheck %s --check-prefix=PAGE < %t.html
// PAGE: 1.50 KiB{{.*}}sent by each device in 1 collective{{.*}}as compiled by libtpu 9.9; 1.12 KiB estimated
// PAGE-SAME: 16.5 KiB{{.*}}at the peak

// An input that is no program has its own error.
// RUN: echo 'module { func.func @main() { "x"( } }' | not sdy-opt --compiled --topology=tpu-v5e 2>&1 | filecheck %s --check-prefix=INVALID
// INVALID-NOT: internal error
// INVALID:     <stdin>:1:{{[0-9]+}}: error:
// INVALID-NOT: internal error

// The report has the figures of both, and a budget limits those of the compiler.
// RUN: echo 'total = {wire_bytes = "1.4 KiB", peak_memory = "15 KiB"}' > %t.toml
// RUN: not env XDG_CACHE_HOME= HOME= sdy-opt %s --report --budget=%t.toml --compiled=%t.hlo --topology=tpu-v5e --jax-python=%S/Inputs/compiler > %t.report 2> %t.errors
// RUN: filecheck %s --check-prefix=REPORT < %t.report
// RUN: filecheck %s --check-prefix=BUDGET < %t.errors
// RUN: filecheck %s --check-prefix=HLO < %t.hlo
// REPORT: compiled by libtpu 9.9 for v5e:2x2
// REPORT: communication: 1.12 KiB on the wire per device
// BUDGET: 1.50 KiB
// BUDGET: 16.5 KiB
// HLO:    HloModule jit_f

// Advice is verified by the compiler: here it sends the same whatever is changed, so nothing is left.
// RUN: env XDG_CACHE_HOME= HOME= sdy-opt %S/Inputs/advice.mlir --advise --compiled --topology=tpu-v5e --jax-python=%S/Inputs/compiler | filecheck %s --check-prefix=ADVICE
// ADVICE: no better program was found, of {{[0-9]+}} tried
// ADVICE: left out: {{[0-9]+}} that XLA contradicts

// It compiles both programs of a comparison.
// RUN: env XDG_CACHE_HOME= HOME= sdy-opt %s --compare-with=%S/Inputs/advice.mlir --compiled=%t.compared.hlo --topology=tpu-v5e --jax-python=%S/Inputs/compiler | filecheck %s --check-prefix=COMPARED
// RUN: filecheck %s --check-prefix=HLO < %t.compared.hlo
// COMPARED: libtpu 9.9 for v5e:2x2: 1.50 KiB → 1.50 KiB sent, 16.5 KiB → 16.5 KiB at the peak; what follows

// A sweep over meshes has the figures of the compiler, too, and says which mesh fits by them. Its time is that of what
// is sent as compiled: 16.1 us by the estimate.
// RUN: env XDG_CACHE_HOME= HOME= sdy-opt %s --mesh-sweep=x=4 --compiled --topology=tpu-v5e --device-memory=10kB --jax-python=%S/Inputs/compiler | filecheck %s --check-prefix=SWEEP
// SWEEP:      x  devices  {{ *}}time      sent  estimated    memory  estimated
// SWEEP-NEXT: 4        4  21.9 us  1.50 KiB   1.12 KiB  16.5 KiB   8.00 KiB  {{.*}}does not fit
// SWEEP:      sent and memory are as compiled

// RUN: not env XDG_CACHE_HOME= HOME= sdy-opt %s --compiled --jax-python=%S/Inputs/compiler 2>&1 | filecheck %s --check-prefix=MACHINE
// MACHINE:      sdy-opt: the --compiled option needs a machine to compile for
// MACHINE-NEXT: help: add --topology=tpu-v5e, or another

// RUN: not env XDG_CACHE_HOME= HOME= sdy-opt %s --compiled=x.pdf --topology=tpu-v5e 2>&1 | filecheck %s --check-prefix=SUFFIX
// SUFFIX:      sdy-opt: for the --compiled option: 'x.pdf' has the suffix of no format
// SUFFIX-NEXT: help: choose from .hlo, .json, .md, .txt

// RUN: not env XDG_CACHE_HOME= HOME= sdy-opt %s --compiled --topology=tpu-v5e --jax-python=no-such-python 2>&1 | filecheck %s --check-prefix=MISSING
// MISSING:      --jax-python:1:1: error: cannot compile: cannot run 'no-such-python'
// MISSING-NEXT: no-such-python
// MISSING-NEXT: ^~~~
// MISSING-NEXT: help: pip install 'sdy-opt[tpu]', or name a Python that has it with --jax-python

// What the compiler says of a program that it does not compile is the error. A program that needs more memory than there
// is has its buffers, though: then the answer is that it does not fit, and what takes the memory.
// RUN: sed 's/@main/@main_of_wrong_model/' %s > %t.wrong.mlir
// RUN: not env XDG_CACHE_HOME= HOME= sdy-opt %t.wrong.mlir --compiled --topology=tpu-v5e --jax-python=%S/Inputs/compiler 2>&1 | filecheck %s --check-prefix=WRONG
// WRONG: compiled.mlir.tmp.wrong.mlir:{{[0-9]+:[0-9]+}}: error: not compiled: INVALID_ARGUMENT: no such operation
// RUN: sed 's/@main/@main_of_large_model/' %s > %t.large.mlir
// RUN: env XDG_CACHE_HOME= HOME= sdy-opt %t.large.mlir --compiled --topology=tpu-v5e --device-memory=10kB --jax-python=%S/Inputs/compiler | filecheck %s --check-prefix=LARGE
// LARGE: does not fit in 9.77 KiB of device memory: 16.5 KiB with all arguments
sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %x: tensor<8x64xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %w: tensor<64x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %product = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<8x64xbf16>, tensor<64x32xbf16>) -> tensor<8x32xf32> loc("f.py":7:1)
  %result = stablehlo.convert %product : (tensor<8x32xf32>) -> tensor<8x32xbf16>
  return %result : tensor<8x32xbf16>
}
