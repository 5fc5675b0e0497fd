// RUN: sdy-opt %s --split-input-file --verify-diagnostics
// RUN: sdy-opt %s --split-input-file -verify-diagnostics=only-expected

// expected-error @+2 {{use of undeclared SSA value name}}
func.func @on_a_later_line() {
  "func.return"(%missing) : (i32) -> ()
}

// -----

func.func @on_this_line() {
  "func.return"(%missing) : (i32) -> () // expected-error {{use of undeclared SSA value name}}
}

// -----

func.func @above() {
  "func.return"(%missing) : (i32) -> ()
  // expected-error @above {{use of undeclared}}
}

// -----

func.func @below() {
  // expected-error-re @below {{use of {{[a-z]+}} SSA value name}}
  "func.return"(%missing) : (i32) -> ()
}

// -----

func.func @twice() {
  // expected-error @+1 2 {{use of undeclared SSA value name}}
  "func.return"(%missing, %absent) : (i32, i32) -> ()
}

// -----

// expected-note @+1 {{see existing symbol definition here}}
func.func private @notes_too()
// expected-error @+1 {{redefinition of symbol named 'notes_too'}}
func.func private @notes_too()
