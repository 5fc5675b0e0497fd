"""Channels: `#stablehlo.channel_handle<handle = 1, type = 2>` ties operations together."""

from __future__ import annotations

from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.dialects.stablehlo.structs import Parameter, integer, read_struct
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.constraints import of_class
from sdyopt.syntax.cursor import Cursor
from sdyopt.syntax.spell import Speller

DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE = 1, 2, 3


class ChannelHandle(Attribute):
    """A channel's number, and between what it runs. A number that is not positive stands for none."""

    handle: int
    type: int
    dialect = "stablehlo"


CHANNEL_HANDLE = of_class(ChannelHandle, "two 64-bit integers 'handle' and 'type'")

_PARAMETERS = (Parameter("handle", integer, "int64_t"), Parameter("type", integer, "int64_t"))


@stablehlo.attribute("channel_handle")
def _parse(cursor: Cursor) -> Attribute:
    return ChannelHandle(*read_struct(cursor, "ChannelHandle", _PARAMETERS))


@stablehlo.spelling(ChannelHandle)
def _spell(channel: ChannelHandle, speller: Speller) -> str:
    return f"channel_handle<handle = {channel.handle}, type = {channel.type}>"
