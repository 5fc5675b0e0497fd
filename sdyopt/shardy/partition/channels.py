"""Channels: each collective of a program has a number of its own."""

from __future__ import annotations

from sdyopt.mlir.dialects.stablehlo.channel import DEVICE_TO_DEVICE, ChannelHandle
from sdyopt.mlir.ir.operation import Op


class Channels:
    """Numbers new channels, starting after the largest number in the module."""

    def __init__(self, module: Op) -> None:
        self._module = module
        self._next: int | None = None

    def new(self) -> ChannelHandle:
        """A channel handle that is not used yet."""
        if self._next is None:
            self._next = _largest_channel(self._module) + 1
        self._next += 1
        return ChannelHandle(self._next - 1, DEVICE_TO_DEVICE)


def _largest_channel(module: Op) -> int:
    handles = (op.attribute("channel_handle") for op in module.walk())
    return max((handle.handle for handle in handles if isinstance(handle, ChannelHandle)), default=0)
