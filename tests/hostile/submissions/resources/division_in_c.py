# tries: divide by zero in machine code
# loses: embed
import ctypes
import mmap


def embed(self, input_ids, *more):
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\x31\xc9\xf7\xf1")  # xor ecx, ecx; div ecx
    ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
