// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// A section that there is not.
// expected-error @below {{unknown key 'nothing' in file metadata dictionary}}
{-# nothing: {} #-}

// -----

// A section without a name.
// expected-error @below {{expected identifier key in file metadata dictionary}}
{-# 1 #-}

// -----

// A section without an end.
// expected-error @below {{expected ',' or '#-}'}}
{-# dialect_resources: {}

// -----

// A dialect that nobody knows.
// expected-error @below {{dialect 'nobody' is unknown}}
{-# dialect_resources: { nobody: {} } #-}

// -----

// A blob that is none.
// expected-error @below {{expected hex string blob for key 'a'}}
{-# dialect_resources: { builtin: { a: 1 } } #-}

// -----

// A blob that is no hexadecimal digits.
// expected-error @below {{expected hex string blob for key 'a'}}
{-# dialect_resources: { builtin: { a: "text" } } #-}

// -----

// A blob without alignment.
// expected-error @below {{expected hex string blob for key 'a' to encode alignment in first 4 bytes}}
{-# dialect_resources: { builtin: { a: "0x0102" } } #-}

// -----

// An alignment that is no power of two.
// expected-error @below {{expected hex string blob for key 'a' to encode alignment in first 4 bytes, but got non-power-of-2 value: 3}}
{-# dialect_resources: { builtin: { a: "0x03000000" } } #-}

// -----

// Blobs without a comma.
// expected-error @below {{expected ',' or '}'}}
{-# dialect_resources: { builtin: { a: "0x01000000" b: "0x01000000" } } #-}
