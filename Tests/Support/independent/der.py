# SPDX-License-Identifier: Apache-2.0
"""Just enough ASN.1 to write receipts: DER, and the indefinite lengths of BER (X.690)."""


def length(count: int) -> bytes:
    if count < 0x80:
        return bytes([count])
    octets = count.to_bytes((count.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(octets)]) + octets


def tlv(tag: int, *parts: bytes) -> bytes:
    contents = b"".join(parts)
    return bytes([tag]) + length(len(contents)) + contents


def indefinite(tag: int, *parts: bytes) -> bytes:
    """A constructed value of indefinite length, closed by end-of-contents octets."""
    return bytes([tag, 0x80]) + b"".join(parts) + b"\0\0"


def integer(value: int) -> bytes:
    return tlv(0x02, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))


def oid(dotted: str) -> bytes:
    first, second, *rest = (int(part) for part in dotted.split("."))
    contents = bytearray()
    for arc in [first * 40 + second, *rest]:
        groups = [arc & 0x7F]
        while arc := arc >> 7:
            groups.append(0x80 | arc & 0x7F)
        contents += bytes(reversed(groups))
    return tlv(0x06, bytes(contents))


def null() -> bytes:
    return b"\x05\x00"


def octets(value: bytes) -> bytes:
    return tlv(0x04, value)


def utf8(text: str) -> bytes:
    return tlv(0x0C, text.encode())


def ia5(text: str) -> bytes:
    return tlv(0x16, text.encode("ascii"))


def sequence(*parts: bytes) -> bytes:
    return tlv(0x30, *parts)


def set_of(*parts: bytes, sort: bool = True) -> bytes:
    return tlv(0x31, *(sorted(parts) if sort else parts))


def context(number: int, *parts: bytes) -> bytes:
    """A constructed, context-specific tag: explicit around a value, or implicit in place of SEQUENCE or SET."""
    return tlv(0xA0 | number, *parts)
