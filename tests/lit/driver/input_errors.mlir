// Input that is not UTF-8 text is an error at the first invalid byte.
// RUN: printf 'module {\n  // \377' > %t
// RUN: not sdy-opt %t 2>&1 | filecheck %s --check-prefix=UTF8
// UTF8: :2:6: error: invalid UTF-8: byte 0xff

// RUN: printf 'ML\357R\001' > %t
// RUN: not sdy-opt %t 2>&1 | filecheck %s --check-prefix=BYTECODE
// BYTECODE: :0:0: error: invalid bytecode: a text without its terminating NUL byte
// BYTECODE: help:

// RUN: printf '\012\005\000\000\377' > %t
// RUN: not sdy-opt %t 2>&1 | filecheck %s --check-prefix=BINARY
// BINARY: :2:4: error: invalid UTF-8: byte 0xff
// BINARY: help: the file is binary, and not complete bytecode; for a dump of XLA, name its folder

// RUN: printf 'module \000 {}' > %t
// RUN: not sdy-opt %t 2>&1 | filecheck %s --check-prefix=NUL
// NUL: :1:8: error: unexpected NUL character

// RUN: printf '\357\273\277module {}' > %t
// RUN: not sdy-opt %t 2>&1 | filecheck %s --check-prefix=MARK
// MARK:      :1:1: error: unexpected character
// MARK-NEXT: module {}
// MARK-NEXT: ^
// MARK-NEXT: help: the file starts with a byte order mark; save it as UTF-8 without one

// Lines may end with CR LF.
// RUN: printf 'func.func @f() {\r\n  return %%%%x : i32\r\n}\r\n' > %t
// RUN: not sdy-opt %t 2>&1 | filecheck %s --check-prefix=CRLF
// CRLF:      :2:10: error: use of undeclared SSA value name
// CRLF-NEXT: {{^  return %x : i32$}}

// An empty file is an empty module.
// RUN: printf '' > %t
// RUN: sdy-opt %t | filecheck %s --check-prefix=EMPTY
// EMPTY:      module {
// EMPTY-NEXT: }
