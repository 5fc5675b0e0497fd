// --device-memory tells whether the program fits.
// RUN: sdy-opt %s --report --device-memory=64MiB | filecheck %s --check-prefix=FITS
// RUN: sdy-opt %s --report --device-memory="1 MiB" | filecheck %s --check-prefix=TOO-BIG
// RUN: sdy-opt %s --report=%t.md --device-memory=1MiB -o /dev/null && filecheck %s --check-prefix=TOO-BIG < %t.md
// RUN: sdy-opt %s --report=%t.html --device-memory=1MiB -o /dev/null && filecheck %s --check-prefix=TOO-BIG < %t.html
// RUN: sdy-opt %s --report=%t.json --device-memory=1MiB -o /dev/null && filecheck %s --check-prefix=JSON < %t.json
// RUN: not sdy-opt %s --report --device-memory=much 2>&1 | filecheck %s --check-prefix=FAULTY
// RUN: not sdy-opt %s --report --device-memory=16 2>&1 | filecheck %s --check-prefix=UNIT

// FITS:    fits in 64.0 MiB of device memory: 4.00 MiB with all arguments, 6% of it, 60.0 MiB left
// TOO-BIG: does not fit in 1.00 MiB of device memory: 4.00 MiB with all arguments, 400% of it
// JSON:    "device_memory": 1048576,
// JSON:    "fits": false,
// FAULTY:  for the --device-memory option: 'much' is not a size of memory
// FAULTY:  help: such as 16GiB
// UNIT:    for the --device-memory option: '16' has no unit
// UNIT:    help: write 16GiB, or 16B for bytes
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<1024x1024xf32> {
  %0 = stablehlo.tanh %a : tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}
