"""The memory in which a contained submission leaves its answers: of a size fixed beforehand.

    0   how many calls were begun       8   steps of training done      16   steps in all
    64  slot 0: the import's answer, then a slot for each call: its length, then a frame

The trusted side creates it, seals its size, and parses nothing in it before the process that can
write there is dead. Answers that were complete by then count, whatever ended the process.

Covered: size, and that a reader sees each byte once (slots are copied before they are parsed).
Not covered: truth. All that stands here, the counters included, is a claim.
"""

import mmap
import struct

from grader.worker import protocol

BEGUN, DONE, TOTAL = 0, 8, 16
FIRST_SLOT = 64
WORD = struct.Struct("<Q")


def size(calls: int, space: int) -> int:
    """Return the bytes of a buffer for so many calls, each with `space` bytes for its answer."""
    return FIRST_SLOT + (calls + 1) * (WORD.size + space)


class ReplyBuffer:
    """Reads and writes a reply_buffer."""

    def __init__(self, memory: mmap.mmap, space: int) -> None:
        self.memory, self.space = memory, space

    def get(self, offset: int) -> int:
        """Read a number."""
        return int(WORD.unpack_from(self.memory, offset)[0])

    def put(self, offset: int, value: int) -> None:
        """Write a number."""
        WORD.pack_into(self.memory, offset, value)

    def start_of(self, slot: int) -> int:
        """Return where a slot begins."""
        return FIRST_SLOT + slot * (WORD.size + self.space)

    def write(self, slot: int, frame: bytes) -> None:
        """Leave an answer; its length comes last, so that half an answer is none.

        Raises:
            ValueError: there is no room for it.
        """
        if len(frame) > self.space:
            raise ValueError(f"{len(frame)} bytes are more than an answer may have, {self.space}")
        start = self.start_of(slot)
        self.memory[start + WORD.size : start + WORD.size + len(frame)] = frame
        self.put(start, len(frame))

    def read(self, slot: int) -> tuple[protocol.Message, protocol.Tensors] | None:
        """Return a slot's answer, or None when it holds none.

        Raises:
            ProtocolError: what it holds is not one frame.
        """
        start = self.start_of(slot)
        length = self.get(start)
        if length == 0:
            return None
        if length > self.space:
            raise protocol.ProtocolError(f"an answer of {length} bytes does not fit its slot")
        return protocol.decode(self.memory[start + WORD.size : start + WORD.size + length])
