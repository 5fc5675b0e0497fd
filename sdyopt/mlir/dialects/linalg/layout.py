"""linalg.generic, index, softmax, pack, unpack and Winograd transforms: those in the declarative format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom, declare_syntax
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.asm_parser import WRONG_ENUM, WRONG_KEYWORD, AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.linalg.structured import (
    MAPS,
    SHAPED,
    TENSOR,
    StructuredOp,
    check_results,
    check_structure,
    linalg,
    parse_operands,
    parse_result_types,
    print_operands,
    result_types,
)
from sdyopt.mlir.ir.affine import AffineMapAttr
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, DictAttr, StringAttr, array, dictionary, string
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray, IntegerAttr, integer
from sdyopt.mlir.ir.interfaces import SINGLE_BLOCK
from sdyopt.mlir.ir.op_fields import (
    attr,
    default_valued_optional_attr,
    operand,
    operands,
    optional_attr,
    optional_operand,
    result,
    results,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, result_named
from sdyopt.mlir.ir.shape_traits import are_compatible_shapes
from sdyopt.mlir.ir.traits import (
    ANY_TYPE,
    ARRAY_ATTR,
    ATTR_SIZED_OPERANDS,
    I64_ARRAY,
    I64_ATTR,
    INDEX_VALUE,
    PURE,
    STRING_ATTR,
    AttrConstraint,
)
from sdyopt.mlir.ir.types import DYNAMIC, I32, I64, INDEX, RankedTensor, Type, element_of
from sdyopt.mlir.ir.value import BlockArgument

_LOOP = AttrConstraint[int](
    "64-bit signless integer attribute whose minimum value is 0",
    lambda a: I64_ATTR.accepts(a) and I64_ATTR.value(a) >= 0,
    I64_ATTR.value,
    I64_ATTR.has_storage_class,
    type=I64,
)


@linalg.op("index", PURE)
class IndexOp(Op):
    """The index of the current iteration along a dimension."""

    dim = attr(_LOOP)
    out = result(INDEX_VALUE)

    assembly = assembly("$dim attr-dict `:` type($out)")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [INDEX]

    def verify_in_context(self) -> None:
        parent = self.parent_op
        if parent is None or parent.signature.name.partition(".")[0] != "linalg":
            raise self.op_error("expected parent op with LinalgOp interface")
        loops = len(parent.iterators) if isinstance(parent, GenericOp) else None
        if loops is not None and self.dim >= loops:
            raise self.op_error(
                f"expected dim ({self.dim}) to be lower than the number of loops ({loops}) of the enclosing "
                "LinalgOp"
            )


@linalg.op("softmax", PURE)
class SoftmaxOp(Op):
    """The softmax along a dimension."""

    input = operand(SHAPED)
    output = operand(SHAPED)
    dimension = attr(I64_ATTR)
    results_ = results(TENSOR)

    assembly = assembly(
        "attr-dict `dimension` `(` $dimension `)` `ins` `(` $input `:` type($input) `)` "
        "`outs` `(` $output `:` type($output) `)` (`->` type($results_)^)?"
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        source, out = signature[SoftmaxOp.input], signature[SoftmaxOp.output]
        if element_of(source) is not element_of(out):
            raise signature.op_error("failed to verify that input and output have same element type")
        if getattr(source, "shape", None) != getattr(out, "shape", None):
            raise signature.op_error("incompatible output shape")
        rank, dimension = len(getattr(source, "shape", ())), signature[SoftmaxOp.dimension]
        if not 0 <= dimension < rank:
            raise signature.op_error("incorrect dimension specified")


# --- pack and unpack ----------------------------------------------------------------------------

_NO_PERMUTATION = DenseArray(I64, ())
_LISTS = (
    "(`outer_dims_perm` `=` $outer_dims_perm^)? `inner_dims_pos` `=` $inner_dims_pos `inner_tiles` `=` "
    "custom<DynamicIndexList>($inner_tiles, $static_inner_tiles) `into` $dest attr-dict "
    "`:` type($source) `->` type($dest, $out)"
)


@linalg.op("pack", PURE, ATTR_SIZED_OPERANDS)
class PackOp(Op):
    """A tensor whose dimensions are split into tiles, which become the last dimensions."""

    source = operand(TENSOR)
    dest = operand(TENSOR)
    padding_value = optional_operand(ANY_TYPE)
    inner_tiles = operands(INDEX_VALUE)
    outer_dims_perm = default_valued_optional_attr(I64_ARRAY, _NO_PERMUTATION)
    inner_dims_pos = attr(I64_ARRAY)
    static_inner_tiles = attr(I64_ARRAY)
    out = result(TENSOR)

    assembly = assembly(
        f"$source (`padding_value` `(` $padding_value^ `:` type($padding_value) `)`)? {_LISTS}"
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        cls = PackOp
        padding = signature[cls.padding_value]
        _check_tiles(signature, signature[cls.source], signature[cls.dest])
        source = signature[cls.source]
        if padding is not None and padding is not source.element:
            raise signature.op_error(
                f"expected padding_value has '{plain_type(source.element)}' but got: '{plain_type(padding)}'"
            )
        tiles, positions, _ = _lists(signature)
        is_cut = any(
            DYNAMIC not in (tile, source.shape[dimension]) and source.shape[dimension] % tile
            for dimension, tile in zip(positions, tiles, strict=True)
        )
        if padding is None and is_cut:
            raise signature.op_error(
                "invalid tile factor or output size provided. Only full tiles are supported when "
                "padding_value is not set"
            )

    name_results = result_named("pack")


@linalg.op("unpack", PURE)
class UnPackOp(Op):
    """A tensor whose last dimensions are tiles, which are put together again."""

    source = operand(TENSOR)
    dest = operand(TENSOR)
    inner_tiles = operands(INDEX_VALUE)
    outer_dims_perm = default_valued_optional_attr(I64_ARRAY, _NO_PERMUTATION)
    inner_dims_pos = attr(I64_ARRAY)
    static_inner_tiles = attr(I64_ARRAY)
    out = result(TENSOR)

    assembly = assembly(f"$source {_LISTS}")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        _check_tiles(signature, signature[UnPackOp.dest], signature[UnPackOp.source])

    name_results = result_named("unpack")


def _check_tiles(signature: OpSignature, unpacked: RankedTensor, packed: RankedTensor) -> None:
    """Raises unless the lists fit a tensor and the tensor of its tiles."""
    tiles, positions, permutation = _lists(signature)
    if any(tile == 0 for tile in tiles):
        raise signature.error("invalid zero tile factor")
    if not _are_distinct_dims(positions, unpacked.rank):
        raise signature.error("invalid inner_dims_pos vector")
    if not _are_distinct_dims(permutation, unpacked.rank):
        raise signature.error("invalid outer_dims_perm vector")
    if len(permutation) not in (0, unpacked.rank):
        raise signature.error("outer_dims_perm must be a permutation or empty")
    if len(tiles) != len(positions):
        raise signature.error("tiling factors must equal the number of dimensions to tile")
    if unpacked.rank + len(tiles) != packed.rank:
        raise signature.error(
            f"packed rank != (unpacked rank + num tiling factors), got {packed.rank} != "
            f"{unpacked.rank + len(tiles)}"
        )
    if packed.shape[unpacked.rank :] != tiles:
        raise signature.error(
            "mismatch in inner tile sizes specified and shaped of tiled dimension in the packed type"
        )
    sizes = list(unpacked.shape)
    for dimension, tile in zip(positions, tiles, strict=True):
        size = sizes[dimension]
        sizes[dimension] = DYNAMIC if DYNAMIC in (size, tile) else -(-size // tile)
    outer = [sizes[dimension] for dimension in permutation] if permutation else sizes
    expected = RankedTensor((*outer, *tiles), unpacked.element)
    if not are_compatible_shapes([expected, packed]):
        raise signature.error(
            f"expected '{plain_type(expected)}' for the packed domain value, got '{plain_type(packed)}'"
        )


def _lists(signature: OpSignature) -> list[tuple[int, ...]]:
    """The inner tiles, the positions of the tiled dimensions, and the permutation of the outer ones."""
    names = ("static_inner_tiles", "inner_dims_pos", "outer_dims_perm")
    attributes = [signature.attributes.get(name) for name in names]
    return [a.values if isinstance(a, DenseArray) else () for a in attributes]


def _are_distinct_dims(dims: Sequence[int], rank: int) -> bool:
    return len(set(dims)) == len(dims) <= rank and all(0 <= dimension < rank for dimension in dims)


# --- Winograd transforms ------------------------------------------------------------------------

Shape = list[int]
_FMRS = ("F_2_3", "F_4_3", "F_2_5")


def _parse_fmr(op_parser: OpAsmParser) -> Attribute:
    offset = op_parser.skip_trivia()
    keyword = op_parser.accept_keyword()
    if keyword not in _FMRS:
        raise op_parser.error(WRONG_ENUM(attribute="fmr", names=", ".join(_FMRS)), offset)
    return integer(_FMRS.index(keyword), I32)


_FMR = AttrConstraint[int](
    "allowed 32-bit signless integer cases: 0, 1, 2",
    lambda a: isinstance(a, IntegerAttr) and a.type is I32 and 0 <= a.value < len(_FMRS),
    lambda a: a.value,
    lambda a: isinstance(a, IntegerAttr),
)
declare_syntax(_FMR, _parse_fmr, lambda attribute, attribute_printer: _FMRS[attribute.value])


class _TransformOp(Op):
    """Base of the transforms of a convolution by Winograd's algorithm."""

    ranks: ClassVar[tuple[int, int]]

    input = operand(TENSOR)
    output = operand(TENSOR)
    fmr = attr(_FMR)
    out = result(TENSOR)

    assembly = assembly(
        "attr-dict `fmr` `(` $fmr `)` `ins` `(` $input `:` type($input) `)` "
        "`outs` `(` $output `:` type($output) `)` `->` type($out)"
    )

    @classmethod
    def expected_shape(
        cls, signature: OpSignature, image: list[int], out: list[int], m: int, r: int
    ) -> Shape:
        """The shape of the output, for tiles of size `m` of the result and a filter of size `r`."""
        raise NotImplementedError

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        op_class = signature.op_class
        assert issubclass(op_class, _TransformOp)
        source, output = signature[_TransformOp.input], signature[_TransformOp.output]
        _, m, r = _FMRS[signature[_TransformOp.fmr]].split("_")
        ranks = op_class.ranks
        if (source.rank, output.rank) != ranks:
            raise signature.op_error(f"requires an input of rank {ranks[0]} and an output of rank {ranks[1]}")
        shape = op_class.expected_shape(signature, list(source.shape), list(output.shape), int(m), int(r))
        if not are_compatible_shapes([RankedTensor(tuple(shape), output.element), output]):
            raise signature.op_error("the output shape is not expected")


@linalg.op("winograd_filter_transform", PURE)
class WinogradFilterTransformOp(_TransformOp):
    """The transform of the filter."""

    ranks = (4, 4)

    @classmethod
    def expected_shape(
        cls, signature: OpSignature, image: list[int], out: list[int], m: int, r: int
    ) -> Shape:
        features, *window, channels = image
        for name, size in zip(("height", "width"), window, strict=True):
            if size not in (r, 1):
                raise signature.op_error(f"expect filter {name} either equals to r or 1")
        if r not in window:
            raise signature.op_error("expect either filter height or width equals to r")
        return [*(m + r - 1 if size == r else 1 for size in window), channels, features]


@linalg.op("winograd_input_transform", PURE)
class WinogradInputTransformOp(_TransformOp):
    """The transform of the image."""

    ranks = (4, 6)

    @classmethod
    def expected_shape(
        cls, signature: OpSignature, image: list[int], out: list[int], m: int, r: int
    ) -> Shape:
        batch, *sizes, channels = image
        tiles = [
            size if size == DYNAMIC or tile == 1 else (size - r + 1) // m
            for size, tile in zip(sizes, out[:2], strict=True)
        ]
        return [*(1 if tile == 1 else m + r - 1 for tile in out[:2]), *tiles, batch, channels]


@linalg.op("winograd_output_transform", PURE)
class WinogradOutputTransformOp(_TransformOp):
    """The transform back."""

    ranks = (6, 4)

    @classmethod
    def expected_shape(
        cls, signature: OpSignature, image: list[int], out: list[int], m: int, r: int
    ) -> Shape:
        *tile, rows, columns, batch, features = image
        for name, size in zip(("height", "width"), tile, strict=True):
            if size not in (1, m + r - 1, DYNAMIC):
                raise signature.op_error(f"expect input {name} equals to input tile size")
        sizes = [
            count if count == DYNAMIC or size == 1 else count * m
            for count, size in zip((rows, columns), tile, strict=True)
        ]
        return [batch, *sizes, features]


class KeywordAttr(Attribute):
    """`#linalg.mnemonic<keyword>`."""

    kind: str

    dialect = "linalg"
    mnemonic: ClassVar[str]


K = TypeVar("K", bound=type[KeywordAttr])


def keyword_attribute(mnemonic: str, cpp_type: str, *keywords: str) -> Callable[[K], K]:
    """Decorator of a class: registers it with its keywords."""

    def register(cls: K) -> K:
        cls.mnemonic = mnemonic

        def parse(parser: AsmParser) -> KeywordAttr:
            parser.expect("<")
            offset = parser.skip_trivia()
            keyword = parser.keyword()
            if keyword not in keywords:
                error = parser.error(WRONG_KEYWORD(what=cpp_type, names=", ".join(keywords)), offset)
                failed = f"failed to parse {cls.__name__}Attr parameter 'value' which is to be a `{cpp_type}`"
                raise error.then(parser.error(failed))
            parser.expect(">")
            return cls(keyword)

        linalg.attribute(mnemonic)(parse)
        linalg.printer(cls)(lambda attribute, _attribute_printer: f"{mnemonic}<{attribute.kind}>")
        return cls

    return register


_ITERATOR_TYPES = ("parallel", "reduction", "window")


@keyword_attribute("iterator_type", "::mlir::utils::IteratorType", *_ITERATOR_TYPES)
class IteratorType(KeywordAttr):
    """`#linalg.iterator_type<parallel>`: how the iterations along a dimension depend on each other."""


_GENERIC_ATTRIBUTES = ("doc", "indexing_maps", "iterator_types", "library_call")


@linalg.op("generic", ATTR_SIZED_OPERANDS, PURE, SINGLE_BLOCK)
class GenericOp(StructuredOp):
    """Computes each element of the outputs with a region, from the elements that the indexing maps select."""

    indexing_maps = attr(MAPS)
    iterator_types = attr(ARRAY_ATTR)
    doc = optional_attr(STRING_ATTR)
    library_call = optional_attr(STRING_ATTR)

    def _print_generic(self, printer: OpAsmPrinter) -> None:
        shown: dict[str, Attribute] = {}
        for name in _GENERIC_ATTRIBUTES:
            value = self.signature.attributes.get(name)
            if name == "iterator_types" and isinstance(value, ArrayAttr):
                value = array([string(e.kind) if isinstance(e, IteratorType) else e for e in value.elements])
            if value is not None:
                shown[name] = value
        printer.dictionary(dictionary(shown))
        print_operands(self, printer)
        if self.attributes.entries:
            printer.write(" attrs = ")
            printer.dictionary(self.attributes)
        printer.write(" ")
        printer.region(self.body, print_arguments=True)
        if self.results:
            printer.write(f" -> {result_types(self, printer)}")

    @staticmethod
    def _parse_generic(op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        given = op_parser.attribute()
        if not isinstance(given, DictAttr):
            raise op_parser.error("invalid kind of attribute specified", offset)
        if not isinstance(given.get("iterator_types"), ArrayAttr):
            raise op_parser.error('expected "iterator_types" array attribute')
        for name, value in given.entries:
            if name == "iterator_types" and isinstance(value, ArrayAttr):
                for word in [e.value for e in value.elements if isinstance(e, StringAttr)]:
                    if word not in _ITERATOR_TYPES:
                        raise op_parser.error(f"unexpected iterator_type ({word})")
                kinds = [IteratorType(e.value) if isinstance(e, StringAttr) else e for e in value.elements]
                op_parser.attributes[name] = array(kinds)
            elif name in _GENERIC_ATTRIBUTES:
                op_parser.attributes[name] = value
            else:
                op_parser.dictionary_attributes[name] = value
        parse_operands(op_parser)
        if op_parser.accept("attrs"):
            op_parser.expect("=")
            op_parser.attribute_dictionary()
        op_parser.region()
        op_parser.types["results_"] = parse_result_types(op_parser)

    assembly = assembly("custom<format>", format=custom(_parse_generic, print=_print_generic))

    def name_arguments(self, region: Region) -> list[tuple[BlockArgument, str]]:
        count = len(self.inputs)
        return [
            (argument, "in" if index < count else "out")
            for block in region.blocks[:1]
            for index, argument in enumerate(block.arguments)
        ]

    @property
    def maps(self) -> list[AffineMapAttr]:
        """The indexing map of each operand."""
        return [map for map in self.indexing_maps.elements if isinstance(map, AffineMapAttr)]

    @property
    def iterators(self) -> list[str]:
        """The kind of each iterator."""
        return [kind.kind for kind in self.iterator_types.elements if isinstance(kind, IteratorType)]

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_results(signature, len(signature[GenericOp.inputs]))
        maps = [map for map in signature[GenericOp.indexing_maps].elements if isinstance(map, AffineMapAttr)]
        check_structure(signature, maps, len(signature[GenericOp.iterator_types].elements))
