"""The memory of a job: its requests, and what a submission answers; its size is fixed in advance.

    0   number of calls begun       8   steps of training done      16   total steps
    24  1 once no more answers will come
    64  slot 0: the import's answer, then a slot for each call: its length, then a frame
    the requests, one after another

The trusted side creates it, seals its size, and, in an isolating tier, parses nothing in it until
the process that can write to it is dead. Answers that were complete by then count, whatever ended
the process.

Covered: size, and that data cannot change while being parsed (slots are copied first).
Not covered: truth. Everything in it, including the counters, is untrusted.
"""

import mmap
import struct

from tensormark.worker import protocol

BEGUN = 0
DONE = 8
TOTAL = 16
FINISHED = 24
FIRST_SLOT = 64
CALL_ENDS = b"\0"  # separates what the import and each call print
WORD = struct.Struct("<Q")


def size(calls: int, space: int) -> int:
    """Return the size of a buffer for this many calls, with `space` bytes for each answer."""
    return FIRST_SLOT + (calls + 1) * (WORD.size + space)


class ReplyBuffer:
    """Reads and writes a reply buffer."""

    def __init__(self, memory: mmap.mmap, space: int) -> None:
        self.memory = memory
        self.space = space

    def get(self, offset: int) -> int:
        """Read the number at an offset."""
        return int(WORD.unpack_from(self.memory, offset)[0])

    def put(self, offset: int, value: int) -> None:
        """Write a number to an offset."""
        WORD.pack_into(self.memory, offset, value)

    def start_of(self, slot: int) -> int:
        """Return the offset of a slot."""
        return FIRST_SLOT + slot * (WORD.size + self.space)

    def begin(self, slot: int) -> None:
        """Say that a call has begun."""
        self.put(BEGUN, slot)

    def progress(self, done: int, total: int) -> None:
        """Say how many steps of training are done."""
        self.put(DONE, done)
        self.put(TOTAL, total)

    def write(self, slot: int, frame: bytes) -> None:
        """Write an answer, or that it is too large.

        Its length is written last, so that an incomplete answer does not count.
        """
        if len(frame) > self.space:
            text = f"returned more than {self.space >> 20} MiB"
            frame = protocol.encode({"number": slot, "status": "error", "text": text})
        start = self.start_of(slot)
        self.memory[start + WORD.size : start + WORD.size + len(frame)] = frame
        self.put(start, len(frame))

    def complete(self, last_slot: int) -> bool:
        """Return whether no more answers will come: FINISHED is set, or the last slot is filled."""
        return self.get(FINISHED) != 0 or self.get(self.start_of(last_slot)) != 0

    def read(self, slot: int) -> bytes | None:
        """Return a slot's frame, or None if it is empty; it ends where the slot ends."""
        start = self.start_of(slot)
        length = min(self.get(start), self.space)
        return self.memory[start + WORD.size : start + WORD.size + length] if length else None
