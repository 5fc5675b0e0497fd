// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// Entries are written as key = value.

module attributes {dlti.map = #dlti.map<"a" = 42 : i32, #dlti.dl_entry<i32, #dlti.map<"bitwidth" = 32 : i32>>>} {
  module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<#dlti.dl_entry<"L1", 4096 : i32>>>} {}
  module attributes {x.y = #dlti.dl_entry<f32, 1>, dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<"dlti.endianness", "little">, i64 = dense<[32,64]> : vector<2xi64>, index = 64>} {}
}

// CHECK: module attributes {dlti.map = #dlti.map<"a" = 42 : i32, i32 = #dlti.map<"bitwidth" = 32 : i32>>} {
// CHECK-NEXT: module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"L1" = 4096 : i32>>} {
// CHECK-NEXT: }
// CHECK-NEXT: module attributes {dlti.dl_spec = #dlti.dl_spec<"dlti.endianness" = "little", i64 = dense<[32, 64]> : vector<2xi64>, index = 64 : i64>, x.y = #dlti.dl_entry<f32, 1 : i64>} {
// CHECK-NEXT: }
// CHECK-NEXT: }
