"""What dialects of other packages are declared with: operations, attributes, sharding rules, lowerings.

    from sdyopt import plugin

    DIALECT = grid = plugin.Dialect("grid")

    @grid.op("row_max", plugin.PURE)
    class RowMaxOp(plugin.Op):
        input = plugin.operand(plugin.FLOAT_TENSOR)
        out = plugin.result(plugin.FLOAT_TENSOR)
        assembly = plugin.assembly("$input attr-dict `:` functional-type(operands, results)")

docs/writing-a-dialect.md describes the names in `__all__` and the members of their classes, which are public:
until 1.0, a release that changes one says so in the changelog. They are the classes of the IR itself, and
those of the dialects here.
"""

from __future__ import annotations

from sdyopt.analysis.figures.flops import flops
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Location
from sdyopt.base.diagnostics.usage import nearest_or_all
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.attribute_format import (
    BracketedList,
    CustomParameters,
    OptionalParameters,
    Struct,
    attribute_format,
    attribute_parameter,
    dialect_attribute,
    dialect_type,
    integer,
    list_of,
    nested,
    nested_list,
    quote,
    string,
    type_parameter,
)
from sdyopt.mlir.asm.format.directives import constant_assembly
from sdyopt.mlir.asm.format.format_elements import custom, declare_syntax, directive
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter, Template
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.bytecode.attribute_table import register_encodings
from sdyopt.mlir.bytecode.encodings import (
    ATTRIBUTE,
    BOOL,
    OPTIONAL_ATTRIBUTE,
    SIGNED,
    STRING,
    TYPE,
    VARINT,
    Codec,
    DialectEncodings,
    attribute_of,
    enumerated,
    listed,
    optional_attribute_of,
    paired,
    type_of,
)
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.assembly_directives import SHARDINGS_ATTR
from sdyopt.mlir.dialects.stablehlo.dialect import EnumAttr, enumeration
from sdyopt.mlir.dialects.stablehlo.types import (
    ANY_TENSOR,
    COMPLEX_TENSOR,
    FLOAT_TENSOR,
    INT_OR_FLOAT_TENSOR,
    INT_TENSOR,
    PRED_TENSOR,
    TENSOR,
    any_of,
    tensor_of,
)
from sdyopt.mlir.ir.attribute import (
    UNIT,
    ArrayAttr,
    Attribute,
    DictAttr,
    StringAttr,
    SymbolRef,
    Type,
    TypeAttr,
    UnitAttr,
)
from sdyopt.mlir.ir.attribute import array as array_attr
from sdyopt.mlir.ir.attribute import dictionary as dict_attr
from sdyopt.mlir.ir.attribute import string as string_attr
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray, DenseElements, FloatAttr, IntegerAttr
from sdyopt.mlir.ir.builtin_attributes import boolean as bool_attr
from sdyopt.mlir.ir.builtin_attributes import floating as float_attr
from sdyopt.mlir.ir.builtin_attributes import integer as integer_attr
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.interfaces import (
    BRANCHES,
    LOOP,
    NO_REGION_ARGUMENTS,
    OPERANDS_TO_RESULTS,
    SINGLE_BLOCK,
    SINGLE_BODY,
    DataFlow,
    ends_with,
    has_parent,
    terminator_of,
)
from sdyopt.mlir.ir.op_fields import (
    attr,
    default_valued_optional_attr,
    operand,
    operand_types,
    operands,
    optional_attr,
    optional_operand,
    region,
    regions,
    result,
    results,
    successor,
    successors,
)
from sdyopt.mlir.ir.op_signature import OpSignature, SignatureError
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.shape_traits import (
    ELEMENTWISE,
    SAME_ELEMENT_TYPE,
    SAME_SHAPE,
    SAME_TYPE,
    same_element_types,
    same_ranks,
    same_types,
)
from sdyopt.mlir.ir.symbols import SYMBOL_TABLE, lookup_symbol
from sdyopt.mlir.ir.traits import (
    ANY_ATTR,
    ANY_REGION,
    ANY_TYPE,
    ARRAY_ATTR,
    ATTR_SIZED_OPERANDS,
    ATTR_SIZED_RESULTS,
    BOOL_ARRAY,
    BOOL_ATTR,
    BOOLEAN_VALUE,
    COMMUTATIVE,
    CONSTANT_LIKE,
    DICT_ATTR,
    ELEMENTS_ATTR,
    F32_ATTR,
    F64_ATTR,
    FLAT_SYMBOL_ATTR,
    FUNCTION,
    FUNCTION_TYPE_ATTR,
    GRAPH_REGION,
    I32_ARRAY,
    I32_ATTR,
    I64_ARRAY,
    I64_ATTR,
    INDEX_ATTR,
    INDEX_VALUE,
    INFERS_TYPES,
    ISOLATED,
    NO_MEMORY_EFFECT,
    NO_TERMINATOR,
    ONE_BLOCK,
    PURE,
    RECURSIVE_EFFECTS,
    STRING_ATTR,
    SYMBOL,
    TERMINATOR,
    UNIT_ATTR,
    AttrConstraint,
    RegionConstraint,
    Trait,
    TypeConstraint,
    exactly,
    non_negative,
    of_class,
    positive,
)
from sdyopt.mlir.ir.types import (
    BF16,
    DYNAMIC,
    F16,
    F32,
    F64,
    I1,
    I8,
    I16,
    I32,
    I64,
    INDEX,
    ComplexType,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    RankedTensor,
    TupleType,
    UnrankedTensor,
    tensor,
)
from sdyopt.mlir.ir.value import BlockArgument, OpOperand, OpResult, Value
from sdyopt.mlir.registry import find_dialect
from sdyopt.shardy.partition.local_builder import LocalBuilder
from sdyopt.shardy.partition.local_context import LocalContext, lowering
from sdyopt.shardy.partition.replication import Dim, crosses_shards
from sdyopt.shardy.sharding.op_sharding_rule_builder import (
    FactorType,
    NoRule,
    OpShardingRuleBuilder,
    Reduction,
    sharding_rule,
)
from sdyopt.shardy.sharding.rules.elementwise import elementwise


def op_class(name: str) -> type[Op]:
    """The class of an operation, such as `stablehlo.add`. Raises ValueError if there is none."""
    dialect = find_dialect(name.partition(".")[0])
    operations = {} if dialect is None else dialect.ops
    cls = operations.get(name.partition(".")[2])
    if cls is None:
        names = [known.name for known in operations.values()]
        raise ValueError(f"there is no operation {name!r}; {nearest_or_all(name, names)}")
    return cls


__all__ = [
    "ANY_ATTR",
    "ANY_REGION",
    "ANY_TENSOR",
    "ANY_TYPE",
    "ARRAY_ATTR",
    "ATTRIBUTE",
    "ATTR_SIZED_OPERANDS",
    "ATTR_SIZED_RESULTS",
    "BF16",
    "BOOL",
    "BOOLEAN_VALUE",
    "BOOL_ARRAY",
    "BOOL_ATTR",
    "BRANCHES",
    "COMMUTATIVE",
    "COMPLEX_TENSOR",
    "CONSTANT_LIKE",
    "DICT_ATTR",
    "DYNAMIC",
    "ELEMENTS_ATTR",
    "ELEMENTWISE",
    "F16",
    "F32",
    "F32_ATTR",
    "F64",
    "F64_ATTR",
    "FLAT_SYMBOL_ATTR",
    "FLOAT_TENSOR",
    "FUNCTION",
    "FUNCTION_TYPE_ATTR",
    "GRAPH_REGION",
    "I1",
    "I8",
    "I16",
    "I32",
    "I32_ARRAY",
    "I32_ATTR",
    "I64",
    "I64_ARRAY",
    "I64_ATTR",
    "INDEX",
    "INDEX_ATTR",
    "INDEX_VALUE",
    "INFERS_TYPES",
    "INT_OR_FLOAT_TENSOR",
    "INT_TENSOR",
    "ISOLATED",
    "LOOP",
    "NO_MEMORY_EFFECT",
    "NO_REGION_ARGUMENTS",
    "NO_TERMINATOR",
    "ONE_BLOCK",
    "OPERANDS_TO_RESULTS",
    "OPTIONAL_ATTRIBUTE",
    "PRED_TENSOR",
    "PURE",
    "RECURSIVE_EFFECTS",
    "SAME_ELEMENT_TYPE",
    "SAME_SHAPE",
    "SAME_TYPE",
    "SHARDINGS_ATTR",
    "SIGNED",
    "SINGLE_BLOCK",
    "SINGLE_BODY",
    "STRING",
    "STRING_ATTR",
    "SYMBOL",
    "SYMBOL_TABLE",
    "TENSOR",
    "TERMINATOR",
    "TYPE",
    "UNIT",
    "UNIT_ATTR",
    "VARINT",
    "ArrayAttr",
    "AsmParser",
    "AttrConstraint",
    "Attribute",
    "AttributePrinter",
    "Block",
    "BlockArgument",
    "BracketedList",
    "Codec",
    "ComplexType",
    "CustomParameters",
    "DataFlow",
    "DenseArray",
    "DenseElements",
    "DiagnosticError",
    "Dialect",
    "DialectEncodings",
    "DictAttr",
    "Dim",
    "EnumAttr",
    "FactorType",
    "FloatAttr",
    "FloatType",
    "FuncOp",
    "FunctionType",
    "IndexType",
    "IntegerAttr",
    "IntegerType",
    "LocalBuilder",
    "LocalContext",
    "Location",
    "NoRule",
    "Op",
    "OpAsmParser",
    "OpAsmPrinter",
    "OpOperand",
    "OpResult",
    "OpShardingRuleBuilder",
    "OpSignature",
    "OptionalParameters",
    "Pattern",
    "RankedTensor",
    "Reduction",
    "Region",
    "RegionConstraint",
    "Rewriter",
    "SignatureError",
    "StringAttr",
    "Struct",
    "SymbolRef",
    "Template",
    "Trait",
    "TupleType",
    "Type",
    "TypeAttr",
    "TypeConstraint",
    "UnitAttr",
    "UnrankedTensor",
    "Value",
    "any_of",
    "array_attr",
    "assembly",
    "attr",
    "attribute_format",
    "attribute_of",
    "attribute_parameter",
    "bool_attr",
    "constant_assembly",
    "constant_value",
    "crosses_shards",
    "custom",
    "declare_syntax",
    "default_valued_optional_attr",
    "dialect_attribute",
    "dialect_type",
    "dict_attr",
    "directive",
    "elementwise",
    "ends_with",
    "enumerated",
    "enumeration",
    "exactly",
    "float_attr",
    "flops",
    "has_parent",
    "integer",
    "integer_attr",
    "list_of",
    "listed",
    "lookup_symbol",
    "lowering",
    "nested",
    "nested_list",
    "non_negative",
    "of_class",
    "op_class",
    "operand",
    "operand_types",
    "operands",
    "optional_attr",
    "optional_attribute_of",
    "optional_operand",
    "paired",
    "positive",
    "quote",
    "region",
    "regions",
    "register_encodings",
    "result",
    "results",
    "same_element_types",
    "same_ranks",
    "same_types",
    "sharding_rule",
    "string",
    "string_attr",
    "successor",
    "successors",
    "tensor",
    "tensor_of",
    "terminator_of",
    "type_of",
    "type_parameter",
]
