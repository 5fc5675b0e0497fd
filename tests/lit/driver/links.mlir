// UNSUPPORTED: system-windows
// A link to itself is a file that cannot be read, wherever a path is completed.
// RUN: rm -rf %t && mkdir -p %t && python -c "import os, sys; os.symlink('loop.py', sys.argv[1])" %t/loop.py
// RUN: not sdy-opt %s --load-plugin=%t/loop.py 2>&1 | filecheck %s --check-prefix=PLUGIN
// RUN: sdy-opt %s --report=%t.html --source-root=%t/loop.py
// PLUGIN: sdy-opt: Failed to load plugin from '{{.*}}loop.py': Too many levels of symbolic links
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32> loc("loop.py":1:1)
}
