"""Arrays of kernels: the fills of furiosa-run and its files."""

import array
import struct


def wide_words(seed, count):
    """The 64-bit words behind the fills with a seed."""
    mask = (1 << 64) - 1
    values = []
    for n in range(count):
        z = (seed + (n + 1) * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
        values.append(z ^ z >> 31)
    return values


def words(seed, count):
    """The upper halves: of all fills with a seed but bits:SEED."""
    return [word >> 32 for word in wide_words(seed, count)]


def low_words(seed, count):
    """The lower halves: of bits:SEED, which takes their low bits."""
    return [word & 0xFFFFFFFF for word in wide_words(seed, count)]


def small(seed, count):
    """The fill small:SEED."""
    return [word % 16 - 8 for word in words(seed, count)]


def quarter(seed, count):
    """The fill quarter:SEED."""
    return [(word % 33 - 16) / 4 for word in words(seed, count)]


def load(path, code):
    """The elements of an .npy file, which have type `code` of array."""
    with open(path, "rb") as file:
        content = file.read()
    values = array.array(code)
    values.frombytes(content[10 + struct.unpack_from("<H", content, 8)[0]:])
    return values
