"""The devices of a shard as text: `0-3`, or `(0, 1) + (2, 3)` with subgroups."""

from __future__ import annotations

from itertools import islice

from sdyopt.analysis.notation.device_tiling import DeviceTiling, Sharing

# The devices of a larger group are not listed one by one.
MAX_GROUP = 512
# The shortest run of consecutive ids, and the shortest other progression, that is abbreviated.
_RUN, _PROGRESSION = 3, 5
_SEPARATORS = {Sharing.UNREDUCED: " + ", Sharing.MANUAL: " | ", Sharing.REPLICATED: ", "}


def devices_text(tiling: DeviceTiling, shard: int, room: int) -> str:
    """The devices of a shard, cut to fit `room` columns.

    Commas separate replicas, `+` devices with partial results, `|` devices with data of their own.
    """
    groups = [group for group in tiling.subgroups if group.size > 1]
    if tiling.group_size > MAX_GROUP:
        return _ends(tiling, shard)
    devices = list(islice(tiling.devices_of(shard), MAX_GROUP))
    replicas = groups.pop().size if groups and groups[-1].sharing is Sharing.REPLICATED else 1
    parts = [
        _replicated(sorted(devices[start : start + replicas])) for start in range(0, len(devices), replicas)
    ]
    separator = ", "
    for group in reversed(groups):
        separator = _SEPARATORS[group.sharing]
        terms = [f"({part})" if " " in part else part for part in parts]
        parts = [separator.join(terms[at : at + group.size]) for at in range(0, len(terms), group.size)]
    return _cut(parts[0], separator, room)


def _ends(tiling: DeviceTiling, shard: int) -> str:
    """The first two devices and the last one of a group, or both ends of a run."""
    start = shard * tiling.group_size
    first, second, last = (tiling.order.device_at(start + at) for at in (0, 1, tiling.group_size - 1))
    return f"{first}-{last}" if _is_run(tiling) else f"{first}, {second}, … {last}"


def _is_run(tiling: DeviceTiling) -> bool:
    """Whether the devices of each shard are replicas with consecutive ids."""
    sharings = {group.sharing for group in tiling.subgroups if group.size > 1}
    minor = tiling.order.digits[-1]
    is_counted = tiling.order.is_iota and minor.stride == 1 and minor.size % tiling.group_size == 0
    return sharings == {Sharing.REPLICATED} and is_counted


def _replicated(devices: list[int]) -> str:
    """`0-3, 8` or `0, 2, … 14`: long runs and progressions are abbreviated."""
    texts: list[str] = []
    start = 0
    while start < len(devices):
        stride = devices[start + 1] - devices[start] if start + 1 < len(devices) else 1
        end = start + 1
        while end < len(devices) and devices[end] == devices[end - 1] + stride:
            end += 1
        if end - start >= (_RUN if stride == 1 else _PROGRESSION):
            first, second, last = devices[start], devices[start + 1], devices[end - 1]
            texts.append(f"{first}-{last}" if stride == 1 else f"{first}, {second}, … {last}")
            start = end
        else:
            texts.append(str(devices[start]))
            start += 1
    return ", ".join(texts)


def _cut(text: str, separator: str, room: int) -> str:
    """The text, or as much of it as fits, cut after a separator if possible."""
    if len(text) <= room:
        return text
    end = text.rfind(separator, 0, max(room - len(separator), 0))
    return f"{text[:end]}{separator}…" if end > 0 else f"{text[: room - 1]}…"
