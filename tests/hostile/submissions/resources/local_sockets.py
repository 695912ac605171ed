# tries: talk to neighbours over local sockets
# loses: nothing
import contextlib
import socket


def embed(self, input_ids, *more):
    for address in ("/tmp/hostile_mark.sock", "\0hostile_mark"):
        with contextlib.suppress(OSError):
            socket.socket(socket.AF_UNIX).bind(address)
            print("LEAKED: a socket at", repr(address))
    with contextlib.suppress(OSError):
        socket.socketpair()
        print("LEAKED: a pair of sockets")
    return right(self, input_ids, *more)
