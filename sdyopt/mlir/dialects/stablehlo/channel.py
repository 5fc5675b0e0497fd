"""Channel handles: `#stablehlo.channel_handle<handle = 1, type = 2>`."""

from __future__ import annotations

from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.dialects.stablehlo.tablegen_struct import Parameter, parse_tablegen_struct
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.constraints import of_class

DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE = 1, 2, 3


class ChannelHandle(Attribute):
    """A channel id and its type (DEVICE_TO_DEVICE, …). An id that is not positive means no channel."""

    handle: int
    type: int
    dialect = "stablehlo"


CHANNEL_HANDLE = of_class(ChannelHandle, "two 64-bit integers 'handle' and 'type'")

_PARAMETERS = (
    Parameter("handle", AsmParser.integer, "int64_t"),
    Parameter("type", AsmParser.integer, "int64_t"),
)


@stablehlo.attribute("channel_handle")
def _parse(parser: AsmParser) -> Attribute:
    return ChannelHandle(*parse_tablegen_struct(parser, "ChannelHandle", _PARAMETERS))


@stablehlo.printer(ChannelHandle)
def _print(channel: ChannelHandle, attribute_printer: AttributePrinter) -> str:
    return f"channel_handle<handle = {channel.handle}, type = {channel.type}>"
