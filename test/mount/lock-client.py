"""Locks files as it is told, a line a command, and answers each with a line: ok, an errno, or what stands in the way.

open FILE | close FILE
flock FILE ex|sh|un [wait]
fcntl FILE w|r|u START LENGTH [wait]
getlk FILE w|r START LENGTH
"""
import errno
import fcntl
import os
import signal
import struct
import sys

files = {}
flocks = {"ex": fcntl.LOCK_EX, "sh": fcntl.LOCK_SH, "un": fcntl.LOCK_UN}
types = {"w": fcntl.F_WRLCK, "r": fcntl.F_RDLCK, "u": fcntl.F_UNLCK}
# struct flock: type, whence, start, length, pid
layout = "hhqqi4x"


def interrupted(*_):
    raise InterruptedError(errno.EINTR, "interrupted")


def range_of(kind, start, length):
    return struct.pack(layout, types[kind], os.SEEK_SET, int(start), int(length), 0)


def run(command, name, *rest):
    if command == "open":
        files[name] = os.open(name, os.O_RDWR | os.O_CREAT)
    elif command == "close":
        os.close(files.pop(name))
    elif command == "flock":
        fcntl.flock(files[name], flocks[rest[0]] | (0 if "wait" in rest else fcntl.LOCK_NB))
    elif command == "fcntl":
        how = fcntl.F_SETLKW if "wait" in rest else fcntl.F_SETLK
        fcntl.fcntl(files[name], how, range_of(*rest[:3]))
    elif command == "getlk":
        answer = fcntl.fcntl(files[name], fcntl.F_GETLK, range_of(*rest))
        kind, _, start, length, pid = struct.unpack(layout, answer)
        names = {value: key for key, value in types.items()}
        return f"{names[kind]} {start} {length} {pid}"
    return "ok"


signal.signal(signal.SIGUSR1, interrupted)
for line in sys.stdin:
    try:
        print(run(*line.split()), flush=True)
    except OSError as error:
        print(errno.errorcode[error.errno], flush=True)
