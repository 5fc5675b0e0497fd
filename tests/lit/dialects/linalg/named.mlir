// Each convolution, pooling and product is printed without its body, which its name implies.
// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s --mlir-print-op-generic | sdy-opt | filecheck %s

// CHECK: %0 = linalg.quantized_matmul ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?xi8>, tensor<?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?xi32>) -> tensor<?x?xi32>
func.func @quantized_matmul(%a0: tensor<?x?xi8>, %a1: tensor<?x?xi8>, %a2: i32, %a3: i32, %a4: tensor<?x?xi32>) {
  %0 = linalg.quantized_matmul ins(%a0, %a1, %a2, %a3 : tensor<?x?xi8>, tensor<?x?xi8>, i32, i32) outs(%a4 : tensor<?x?xi32>) -> tensor<?x?xi32>
  return
}
// CHECK: %0 = linalg.mmt4d ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @mmt4d(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?x?x?xi8>, %a2: tensor<?x?x?x?xi32>) {
  %0 = linalg.mmt4d ins(%a0, %a1 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%a2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.batch_mmt4d ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @batch_mmt4d(%a0: tensor<?x?x?x?x?xi8>, %a1: tensor<?x?x?x?x?xi8>, %a2: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.batch_mmt4d ins(%a0, %a1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%a2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.quantized_batch_matmul ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?x?xi8>, tensor<?x?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
func.func @quantized_batch_matmul(%a0: tensor<?x?x?xi8>, %a1: tensor<?x?x?xi8>, %a2: i32, %a3: i32, %a4: tensor<?x?x?xi32>) {
  %0 = linalg.quantized_batch_matmul ins(%a0, %a1, %a2, %a3 : tensor<?x?x?xi8>, tensor<?x?x?xi8>, i32, i32) outs(%a4 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
// CHECK: %0 = linalg.matvec ins(%arg0, %arg1 : tensor<?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?xi32>) -> tensor<?xi32>
func.func @matvec(%a0: tensor<?x?xi8>, %a1: tensor<?xi8>, %a2: tensor<?xi32>) {
  %0 = linalg.matvec ins(%a0, %a1 : tensor<?x?xi8>, tensor<?xi8>) outs(%a2 : tensor<?xi32>) -> tensor<?xi32>
  return
}
// CHECK: %0 = linalg.vecmat ins(%arg0, %arg1 : tensor<?xi8>, tensor<?x?xi8>) outs(%arg2 : tensor<?xi32>) -> tensor<?xi32>
func.func @vecmat(%a0: tensor<?xi8>, %a1: tensor<?x?xi8>, %a2: tensor<?xi32>) {
  %0 = linalg.vecmat ins(%a0, %a1 : tensor<?xi8>, tensor<?x?xi8>) outs(%a2 : tensor<?xi32>) -> tensor<?xi32>
  return
}
// CHECK: %0 = linalg.batch_matvec ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?x?xi8>) outs(%arg2 : tensor<?x?xi32>) -> tensor<?x?xi32>
func.func @batch_matvec(%a0: tensor<?x?x?xi8>, %a1: tensor<?x?xi8>, %a2: tensor<?x?xi32>) {
  %0 = linalg.batch_matvec ins(%a0, %a1 : tensor<?x?x?xi8>, tensor<?x?xi8>) outs(%a2 : tensor<?x?xi32>) -> tensor<?x?xi32>
  return
}
// CHECK: %0 = linalg.batch_vecmat ins(%arg0, %arg1 : tensor<?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?xi32>) -> tensor<?x?xi32>
func.func @batch_vecmat(%a0: tensor<?x?xi8>, %a1: tensor<?x?x?xi8>, %a2: tensor<?x?xi32>) {
  %0 = linalg.batch_vecmat ins(%a0, %a1 : tensor<?x?xi8>, tensor<?x?x?xi8>) outs(%a2 : tensor<?x?xi32>) -> tensor<?x?xi32>
  return
}
// CHECK: %0 = linalg.dot ins(%arg0, %arg1 : tensor<?xi8>, tensor<?xi8>) outs(%arg2 : tensor<i32>) -> tensor<i32>
func.func @dot(%a0: tensor<?xi8>, %a1: tensor<?xi8>, %a2: tensor<i32>) {
  %0 = linalg.dot ins(%a0, %a1 : tensor<?xi8>, tensor<?xi8>) outs(%a2 : tensor<i32>) -> tensor<i32>
  return
}
// CHECK: %0 = linalg.conv_1d ins(%arg0, %arg1 : tensor<?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?xi32>) -> tensor<?xi32>
func.func @conv_1d(%a0: tensor<?xi8>, %a1: tensor<?xi8>, %a2: tensor<?xi32>) {
  %0 = linalg.conv_1d ins(%a0, %a1 : tensor<?xi8>, tensor<?xi8>) outs(%a2 : tensor<?xi32>) -> tensor<?xi32>
  return
}
// CHECK: %0 = linalg.conv_2d ins(%arg0, %arg1 : tensor<?x?xi8>, tensor<?x?xi8>) outs(%arg2 : tensor<?x?xi32>) -> tensor<?x?xi32>
func.func @conv_2d(%a0: tensor<?x?xi8>, %a1: tensor<?x?xi8>, %a2: tensor<?x?xi32>) {
  %0 = linalg.conv_2d ins(%a0, %a1 : tensor<?x?xi8>, tensor<?x?xi8>) outs(%a2 : tensor<?x?xi32>) -> tensor<?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_3d ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
func.func @conv_3d(%a0: tensor<?x?x?xi8>, %a1: tensor<?x?x?xi8>, %a2: tensor<?x?x?xi32>) {
  %0 = linalg.conv_3d ins(%a0, %a1 : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%a2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_1d_nwc_wcf {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
func.func @conv_1d_nwc_wcf(%a0: tensor<?x?x?xi8>, %a1: tensor<?x?x?xi8>, %a2: tensor<?x?x?xi32>) {
  %0 = linalg.conv_1d_nwc_wcf {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%a2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_1d_ncw_fcw {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
func.func @conv_1d_ncw_fcw(%a0: tensor<?x?x?xi8>, %a1: tensor<?x?x?xi8>, %a2: tensor<?x?x?xi32>) {
  %0 = linalg.conv_1d_ncw_fcw {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%a2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @conv_2d_nhwc_hwcf(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?x?x?xi8>, %a2: tensor<?x?x?x?xi32>) {
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%a2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_2d_nhwc_fhwc {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @conv_2d_nhwc_fhwc(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?x?x?xi8>, %a2: tensor<?x?x?x?xi32>) {
  %0 = linalg.conv_2d_nhwc_fhwc {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%a2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_2d_nhwc_hwcf_q {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @conv_2d_nhwc_hwcf_q(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?x?x?xi8>, %a2: i32, %a3: i32, %a4: tensor<?x?x?x?xi32>) {
  %0 = linalg.conv_2d_nhwc_hwcf_q {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1, %a2, %a3 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>, i32, i32) outs(%a4 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_2d_nhwc_fhwc_q {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @conv_2d_nhwc_fhwc_q(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?x?x?xi8>, %a2: i32, %a3: i32, %a4: tensor<?x?x?x?xi32>) {
  %0 = linalg.conv_2d_nhwc_fhwc_q {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1, %a2, %a3 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>, i32, i32) outs(%a4 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_2d_nchw_fchw_q {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @conv_2d_nchw_fchw_q(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?x?x?xi8>, %a2: i32, %a3: i32, %a4: tensor<?x?x?x?xi32>) {
  %0 = linalg.conv_2d_nchw_fchw_q {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1, %a2, %a3 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>, i32, i32) outs(%a4 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_2d_nchw_fchw {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @conv_2d_nchw_fchw(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?x?x?xi8>, %a2: tensor<?x?x?x?xi32>) {
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%a2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_2d_ngchw_fgchw {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @conv_2d_ngchw_fgchw(%a0: tensor<?x?x?x?x?xi8>, %a1: tensor<?x?x?x?x?xi8>, %a2: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.conv_2d_ngchw_fgchw {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%a2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_2d_ngchw_gfchw {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @conv_2d_ngchw_gfchw(%a0: tensor<?x?x?x?x?xi8>, %a1: tensor<?x?x?x?x?xi8>, %a2: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.conv_2d_ngchw_gfchw {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%a2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @conv_2d_nhwgc_gfhwc(%a0: tensor<?x?x?x?x?xi8>, %a1: tensor<?x?x?x?x?xi8>, %a2: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%a2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_2d_nhwgc_gfhwc_q {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @conv_2d_nhwgc_gfhwc_q(%a0: tensor<?x?x?x?x?xi8>, %a1: tensor<?x?x?x?x?xi8>, %a2: i32, %a3: i32, %a4: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.conv_2d_nhwgc_gfhwc_q {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1, %a2, %a3 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>, i32, i32) outs(%a4 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_2d_ngchw_gfchw_q {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @conv_2d_ngchw_gfchw_q(%a0: tensor<?x?x?x?x?xi8>, %a1: tensor<?x?x?x?x?xi8>, %a2: i32, %a3: i32, %a4: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.conv_2d_ngchw_gfchw_q {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1, %a2, %a3 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>, i32, i32) outs(%a4 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_3d_ndhwc_dhwcf {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @conv_3d_ndhwc_dhwcf(%a0: tensor<?x?x?x?x?xi8>, %a1: tensor<?x?x?x?x?xi8>, %a2: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.conv_3d_ndhwc_dhwcf {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%a2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_3d_ndhwc_dhwcf_q {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @conv_3d_ndhwc_dhwcf_q(%a0: tensor<?x?x?x?x?xi8>, %a1: tensor<?x?x?x?x?xi8>, %a2: i32, %a3: i32, %a4: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.conv_3d_ndhwc_dhwcf_q {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1, %a2, %a3 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>, i32, i32) outs(%a4 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @conv_3d_ncdhw_fcdhw(%a0: tensor<?x?x?x?x?xi8>, %a1: tensor<?x?x?x?x?xi8>, %a2: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%a2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.depthwise_conv_1d_nwc_wc {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?x?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
func.func @depthwise_conv_1d_nwc_wc(%a0: tensor<?x?x?xi8>, %a1: tensor<?x?xi8>, %a2: tensor<?x?x?xi32>) {
  %0 = linalg.depthwise_conv_1d_nwc_wc {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<?x?x?xi8>, tensor<?x?xi8>) outs(%a2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
// CHECK: %0 = linalg.depthwise_conv_1d_ncw_cw {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?x?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
func.func @depthwise_conv_1d_ncw_cw(%a0: tensor<?x?x?xi8>, %a1: tensor<?x?xi8>, %a2: tensor<?x?x?xi32>) {
  %0 = linalg.depthwise_conv_1d_ncw_cw {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<?x?x?xi8>, tensor<?x?xi8>) outs(%a2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
// CHECK: %0 = linalg.depthwise_conv_1d_nwc_wcm {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @depthwise_conv_1d_nwc_wcm(%a0: tensor<?x?x?xi8>, %a1: tensor<?x?x?xi8>, %a2: tensor<?x?x?x?xi32>) {
  %0 = linalg.depthwise_conv_1d_nwc_wcm {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<?x?x?xi8>, tensor<?x?x?xi8>) outs(%a2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @depthwise_conv_2d_nhwc_hwc(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?x?xi8>, %a2: tensor<?x?x?x?xi32>) {
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%a2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @depthwise_conv_2d_nchw_chw(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?x?xi8>, %a2: tensor<?x?x?x?xi32>) {
  %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%a2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.depthwise_conv_2d_nhwc_hwc_q {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?x?x?xi8>, tensor<?x?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @depthwise_conv_2d_nhwc_hwc_q(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?x?xi8>, %a2: i32, %a3: i32, %a4: tensor<?x?x?x?xi32>) {
  %0 = linalg.depthwise_conv_2d_nhwc_hwc_q {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1, %a2, %a3 : tensor<?x?x?x?xi8>, tensor<?x?x?xi8>, i32, i32) outs(%a4 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @depthwise_conv_2d_nhwc_hwcm(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?x?x?xi8>, %a2: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%a2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.depthwise_conv_2d_nhwc_hwcm_q {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1, %arg2, %arg3 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>, i32, i32) outs(%arg4 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @depthwise_conv_2d_nhwc_hwcm_q(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?x?x?xi8>, %a2: i32, %a3: i32, %a4: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm_q {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1, %a2, %a3 : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>, i32, i32) outs(%a4 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.depthwise_conv_3d_ndhwc_dhwc {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @depthwise_conv_3d_ndhwc_dhwc(%a0: tensor<?x?x?x?x?xi8>, %a1: tensor<?x?x?x?xi8>, %a2: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwc {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%a2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.depthwise_conv_3d_ncdhw_cdhw {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @depthwise_conv_3d_ncdhw_cdhw(%a0: tensor<?x?x?x?x?xi8>, %a1: tensor<?x?x?x?xi8>, %a2: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.depthwise_conv_3d_ncdhw_cdhw {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%a2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.depthwise_conv_3d_ndhwc_dhwcm {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?x?xi32>) -> tensor<?x?x?x?x?x?xi32>
func.func @depthwise_conv_3d_ndhwc_dhwcm(%a0: tensor<?x?x?x?x?xi8>, %a1: tensor<?x?x?x?x?xi8>, %a2: tensor<?x?x?x?x?x?xi32>) {
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwcm {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?x?x?xi8>) outs(%a2 : tensor<?x?x?x?x?x?xi32>) -> tensor<?x?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_nhwc_sum {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @pooling_nhwc_sum(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?xi8>, %a2: tensor<?x?x?x?xi32>) {
  %0 = linalg.pooling_nhwc_sum {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?xi8>, tensor<?x?xi8>) outs(%a2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_nchw_sum {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @pooling_nchw_sum(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?xi8>, %a2: tensor<?x?x?x?xi32>) {
  %0 = linalg.pooling_nchw_sum {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?xi8>, tensor<?x?xi8>) outs(%a2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_nhwc_max {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @pooling_nhwc_max(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?xi8>, %a2: tensor<?x?x?x?xi32>) {
  %0 = linalg.pooling_nhwc_max {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?xi8>, tensor<?x?xi8>) outs(%a2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_nhwc_max_unsigned {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @pooling_nhwc_max_unsigned(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?xi8>, %a2: tensor<?x?x?x?xi32>) {
  %0 = linalg.pooling_nhwc_max_unsigned {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?xi8>, tensor<?x?xi8>) outs(%a2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_nchw_max {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @pooling_nchw_max(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?xi8>, %a2: tensor<?x?x?x?xi32>) {
  %0 = linalg.pooling_nchw_max {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?xi8>, tensor<?x?xi8>) outs(%a2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_nhwc_min {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @pooling_nhwc_min(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?xi8>, %a2: tensor<?x?x?x?xi32>) {
  %0 = linalg.pooling_nhwc_min {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?xi8>, tensor<?x?xi8>) outs(%a2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_nhwc_min_unsigned {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?xi8>, tensor<?x?xi8>) outs(%arg2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
func.func @pooling_nhwc_min_unsigned(%a0: tensor<?x?x?x?xi8>, %a1: tensor<?x?xi8>, %a2: tensor<?x?x?x?xi32>) {
  %0 = linalg.pooling_nhwc_min_unsigned {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<?x?x?x?xi8>, tensor<?x?xi8>) outs(%a2 : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_nwc_sum {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
func.func @pooling_nwc_sum(%a0: tensor<?x?x?xi8>, %a1: tensor<?xi8>, %a2: tensor<?x?x?xi32>) {
  %0 = linalg.pooling_nwc_sum {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%a2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_ncw_sum {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
func.func @pooling_ncw_sum(%a0: tensor<?x?x?xi8>, %a1: tensor<?xi8>, %a2: tensor<?x?x?xi32>) {
  %0 = linalg.pooling_ncw_sum {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%a2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_nwc_max {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
func.func @pooling_nwc_max(%a0: tensor<?x?x?xi8>, %a1: tensor<?xi8>, %a2: tensor<?x?x?xi32>) {
  %0 = linalg.pooling_nwc_max {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%a2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_nwc_max_unsigned {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
func.func @pooling_nwc_max_unsigned(%a0: tensor<?x?x?xi8>, %a1: tensor<?xi8>, %a2: tensor<?x?x?xi32>) {
  %0 = linalg.pooling_nwc_max_unsigned {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%a2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_ncw_max {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
func.func @pooling_ncw_max(%a0: tensor<?x?x?xi8>, %a1: tensor<?xi8>, %a2: tensor<?x?x?xi32>) {
  %0 = linalg.pooling_ncw_max {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%a2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_nwc_min {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
func.func @pooling_nwc_min(%a0: tensor<?x?x?xi8>, %a1: tensor<?xi8>, %a2: tensor<?x?x?xi32>) {
  %0 = linalg.pooling_nwc_min {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%a2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_nwc_min_unsigned {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%arg0, %arg1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%arg2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
func.func @pooling_nwc_min_unsigned(%a0: tensor<?x?x?xi8>, %a1: tensor<?xi8>, %a2: tensor<?x?x?xi32>) {
  %0 = linalg.pooling_nwc_min_unsigned {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<?x?x?xi8>, tensor<?xi8>) outs(%a2 : tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_ndhwc_sum {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @pooling_ndhwc_sum(%a0: tensor<?x?x?x?x?xi8>, %a1: tensor<?x?x?xi8>, %a2: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.pooling_ndhwc_sum {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%a2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_ndhwc_max {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @pooling_ndhwc_max(%a0: tensor<?x?x?x?x?xi8>, %a1: tensor<?x?x?xi8>, %a2: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.pooling_ndhwc_max {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%a2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
// CHECK: %0 = linalg.pooling_ndhwc_min {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%arg0, %arg1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%arg2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
func.func @pooling_ndhwc_min(%a0: tensor<?x?x?x?x?xi8>, %a1: tensor<?x?x?xi8>, %a2: tensor<?x?x?x?x?xi32>) {
  %0 = linalg.pooling_ndhwc_min {dilations = dense<2> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<?x?x?x?x?xi8>, tensor<?x?x?xi8>) outs(%a2 : tensor<?x?x?x?x?xi32>) -> tensor<?x?x?x?x?xi32>
  return
}
