# tries: reach the network, and names on it
# loses: nothing
import contextlib
import socket


def embed(self, input_ids, *more):
    for family, address in ((socket.AF_INET, ("127.0.0.1", 22)), (socket.AF_INET6, ("::1", 22))):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            with contextlib.suppress(OSError):
                socket.socket(family, kind).connect(address)
                print("LEAKED: a socket to", address)
    with contextlib.suppress(OSError):
        print("LEAKED:", socket.getaddrinfo("example.org", 80))
    return right(self, input_ids, *more)
