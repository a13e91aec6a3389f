"""Peak memory of the tools on a large file, for each byte of it.

memory.py TOOLS FILE SCRATCH

FILE gets a section that no reader knows and may skip, of 64 MiB; its checks are
made right. What the tools take above what they take for FILE is compared.
"""

import hashlib
import os
import pathlib
import sys
import zlib

tools, small, scratch = map(pathlib.Path, sys.argv[1:])
EXTRA = 64 << 20
# A pipe is read into a buffer that grows to twice its size at most.
MOST = {"file": 1.5, "pipe": 3.5}


def enlarge(data):
    count = int.from_bytes(data[12:16], "little")
    table = bytearray(data[64:64 + 40 * count])
    for at in range(16, len(table), 40):
        offset = int.from_bytes(table[at:at + 8], "little") + 40
        table[at:at + 8] = offset.to_bytes(8, "little")
    body = data[64 + 40 * count:]
    body += bytes(-len(body) % 8)
    extra = bytes(range(256)) * (EXTRA // 256)
    begin = 64 + len(table) + 40 + len(body)
    table += (b"MORE" + (1).to_bytes(4, "little") + (2**32 - 1).to_bytes(4, "little")
              + zlib.crc32(extra).to_bytes(4, "little") + begin.to_bytes(8, "little")
              + EXTRA.to_bytes(8, "little") * 2)
    head = bytearray(data[:64])
    head[12:16] = (count + 1).to_bytes(4, "little")
    head[16:24] = (begin + EXTRA).to_bytes(8, "little")
    head[24:28] = bytes(4)
    head[32:64] = bytes(32)
    head[24:28] = zlib.crc32(head + table).to_bytes(4, "little")
    result = head + table + body + extra
    result[32:64] = hashlib.sha256(result).digest()
    return result


def peak(command, source, is_pipe):
    """Kilobytes that the command had resident at most."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(write)
        os.dup2(read, 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(command[0], command)
    os.close(read)
    if is_pipe:
        with open(write, "wb") as out:
            out.write(source.read_bytes())
    else:
        os.close(write)
    _, status, usage = os.wait4(pid, 0)
    assert status == 0, (command, status)
    return usage.ru_maxrss


large = scratch / "large.edf"
large.write_bytes(enlarge(small.read_bytes()))
# A page cache of one size for both: the mapped file counts as resident.
for name, program, options in (("furiosa-run", "furiosa-run", []),
                               ("disassemble", "furiosa-translate", ["--disassemble"]),
                               ("capi", "furiosa-capi-example", [])):
    for door, most in MOST.items():
        is_pipe = door == "pipe"

        def taken(file):
            place = "/dev/stdin" if is_pipe else str(file)
            return peak([str(tools / program), *options, place], file, is_pipe)

        factor = (taken(large) - taken(small)) * 1024 / EXTRA
        assert 0.5 < factor < most, (name, door, factor)
        print(f"{name} {door}: {factor:.2f} bytes a byte")
