// Input that is no text is refused with the place where it stops being one.
// RUN: printf 'module {\n  // \377' > %t
// RUN: not sdy-opt %t 2>&1 | filecheck %s --check-prefix=UTF8
// UTF8: :2:6: error: invalid UTF-8: byte 0xff

// RUN: printf 'ML\357R\001' > %t
// RUN: not sdy-opt %t 2>&1 | filecheck %s --check-prefix=BYTECODE
// BYTECODE: :1:1: error: this is MLIR bytecode, not text
// BYTECODE: help:

// RUN: printf 'module \000 {}' > %t
// RUN: not sdy-opt %t 2>&1 | filecheck %s --check-prefix=NUL
// NUL: :1:8: error: unexpected NUL character

// An empty file is an empty module.
// RUN: printf '' > %t
// RUN: sdy-opt %t | filecheck %s --check-prefix=EMPTY
// EMPTY:      module {
// EMPTY-NEXT: }
