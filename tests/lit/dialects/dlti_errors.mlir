// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{attribute 'dlti.unknown' not supported by dialect}}
module attributes {dlti.unknown} {}

// -----

// expected-error @+1 {{'dlti.map' is expected to be a #dlti.map attribute}}
module attributes {dlti.map = 42} {}

// -----

// expected-error @+1 {{repeated DLTI key: i32}}
module attributes {dlti.map = #dlti.map<i32 = 1, #dlti.dl_entry<i32, 2>>} {}

// -----

// expected-error @+1 {{empty string as DLTI key is not allowed}}
module attributes {dlti.map = #dlti.map<"" = 1>} {}

// -----

// expected-error @+1 {{expected a type or a quoted string}}
module attributes {a.b = #dlti.dl_entry<42, 42>} {}

// -----

// expected-error @+1 {{no DLTI entries provided}}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<>} {}

// -----

// expected-error @+1 {{value associated with key "a" is not a DLTI device spec}}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"a" = 1>} {}

// -----

// expected-error @+1 {{repeated device ID in dlti.target_system_spec: "a"}}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"a" = #dlti.target_device_spec<"b" = 1>, "a" = #dlti.target_device_spec<"b" = 1>>} {}

// -----

// expected-error @+1 {{unknown data layout entry name: dlti.nothing}}
module attributes {dlti.dl_spec = #dlti.dl_spec<"dlti.nothing" = 1>} {}

// -----

// expected-error @+1 {{'dlti.endianness' data layout entry is expected to be either 'big' or 'little'}}
module attributes {dlti.dl_spec = #dlti.dl_spec<"dlti.endianness" = "middle">} {}

// -----

// expected-error @+1 {{unexpected data layout for a built-in type}}
module attributes {dlti.dl_spec = #dlti.dl_spec<tensor<f32> = 1>} {}
