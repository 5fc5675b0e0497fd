// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// Unknown section.
// expected-error @below {{unknown key 'nothing' in file metadata dictionary}}
{-# nothing: {} #-}

// -----

// Missing name of a section.
// expected-error @below {{expected identifier key in file metadata dictionary}}
{-# 1 #-}

// -----

// A section that is not closed.
// expected-error @below {{expected ',' or '#-}'}}
{-# dialect_resources: {}

// -----

// Unknown dialect.
// expected-error @below {{dialect 'nobody' is unknown}}
{-# dialect_resources: { nobody: {} } #-}

// -----

// A value that is no blob.
// expected-error @below {{expected hex string blob for key 'a'}}
{-# dialect_resources: { builtin: { a: 1 } } #-}

// -----

// A blob that is not hexadecimal.
// expected-error @below {{expected hex string blob for key 'a'}}
{-# dialect_resources: { builtin: { a: "text" } } #-}

// -----

// Missing alignment.
// expected-error @below {{expected hex string blob for key 'a' to encode alignment in first 4 bytes}}
{-# dialect_resources: { builtin: { a: "0x0102" } } #-}

// -----

// An alignment that is not a power of two.
// expected-error @below {{expected hex string blob for key 'a' to encode alignment in first 4 bytes, but got non-power-of-2 value: 3}}
{-# dialect_resources: { builtin: { a: "0x03000000" } } #-}

// -----

// Missing comma between blobs.
// expected-error @below {{expected ',' or '}'}}
{-# dialect_resources: { builtin: { a: "0x01000000" b: "0x01000000" } } #-}
