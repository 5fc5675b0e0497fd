// RUN: sdy-opt %s -split-input-file -verify-diagnostics

irdl.dialect @d {
  irdl.type @t {
    %0 = irdl.any
    // expected-error @+1 {{custom op 'irdl.parameters' expected valid keyword}}
    irdl.parameters(%0)
  }
}

// -----

irdl.dialect @d {
  irdl.operation @o {
    %0 = irdl.any
    // expected-error @+1 {{name of operand #0 must contain only lowercase letters, digits and underscores}}
    irdl.operands(a$b: %0)
  }
}

// -----

irdl.dialect @d {
  // expected-error @+1 {{name of operation should not contain leading or double underscores}}
  irdl.operation @_o
}

// -----

irdl.dialect @d {
  // expected-error @+1 {{name of type should not contain uppercase letters}}
  irdl.type @T
}

// -----

irdl.dialect @d {
  irdl.operation @o {
    %0 = irdl.any
    // expected-error @+1 {{'irdl.results' op name of result #1 is a duplicate of the name of result #0}}
    irdl.results(a: %0, a: %0)
  }
}

// -----

irdl.dialect @d {
  // expected-error @+1 {{'irdl.operation' op contains a value named 'a' for both its operands and results}}
  irdl.operation @o {
    %0 = irdl.any
    irdl.operands(a: %0)
    irdl.results(a: %0)
  }
}

// -----

irdl.dialect @d {
  irdl.operation @o {
    // expected-error @+1 {{'irdl.base' op symbol '@nothing' not found}}
    %0 = irdl.base @nothing
  }
}

// -----

func.func private @f()
irdl.dialect @d {
  irdl.operation @o {
    // expected-error @+1 {{'irdl.parametric' op symbol '@f' does not refer to a type or attribute definition (refers to 'func.func')}}
    %0 = irdl.parametric @f<>
  }
}

// -----

irdl.dialect @d {
  irdl.operation @o {
    // expected-error @+1 {{the base type or attribute name should start with '!' or '#'}}
    %0 = irdl.base "builtin.integer"
  }
}

// -----

irdl.dialect @d {
  irdl.operation @o {
    // expected-error @+1 {{the base type or attribute should be specified by either a name or a reference}}
    %0 = irdl.base
  }
}

// -----

irdl.dialect @d {
  irdl.operation @o {
    // expected-error @+1 {{'irdl.region' op the number of blocks is expected to be >= 1 but got -4}}
    %0 = irdl.region with size -4
  }
}

// -----

irdl.dialect @d {
  irdl.operation @o {
    %0 = irdl.any
    // expected-error @+1 {{the number of operands and their variadicities must be the same, but got 1 and 2 respectively}}
    "irdl.operands"(%0) <{names = ["a"], variadicity = #irdl<variadicity_array[single, single]>}> : (!irdl.attribute) -> ()
  }
}

// -----

irdl.dialect @d {
  irdl.operation @o {
    %0 = irdl.any
    // expected-error @+1 {{the number of attribute names and their constraints must be the same but got 2 and 1 respectively}}
    "irdl.attributes"(%0) <{attributeValueNames = ["a", "b"]}> : (!irdl.attribute) -> ()
  }
}

// -----

irdl.dialect @d {
  // expected-error @+1 {{failed to verify AtMostOneChildOf trait: the operation contains at least two operations of type irdl.operands}}
  irdl.operation @o {
    %0 = irdl.any
    irdl.operands(a: %0)
    irdl.operands(b: %0)
  }
}

// -----

// expected-error @+1 {{'irdl.type' op expects parent op 'irdl.dialect'}}
irdl.type @t
