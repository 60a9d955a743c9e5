# SPDX-License-Identifier: Apache-2.0
"""DER (ITU-T X.690) by hand, so that a case can hold any encoding, among them those that no library writes."""

BOOLEAN, INTEGER, BIT_STRING, OCTET_STRING, NULL, OID = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06
ENUMERATED, UTF8_STRING, PRINTABLE_STRING, IA5_STRING, UTC_TIME, GENERALIZED_TIME = 0x0A, 0x0C, 0x13, 0x16, 0x17, 0x18
SEQUENCE, SET = 0x30, 0x31


def length(count: int) -> bytes:
    """The length octets of so many content octets, in the shortest form."""
    if count < 0x80:
        return bytes([count])
    octets = count.to_bytes((count.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(octets)]) + octets


def long_length(count: int, octets: int) -> bytes:
    """Length octets in the long form of so many octets, whether they are needed or not."""
    return bytes([0x80 | octets]) + count.to_bytes(octets, "big")


def tlv(tag: int, content: bytes) -> bytes:
    return bytes([tag]) + length(len(content)) + content


def indefinite(tag: int, content: bytes) -> bytes:
    """A value of indefinite length (BER)."""
    return bytes([tag, 0x80]) + content + b"\x00\x00"


def context(number: int, content: bytes, constructed: bool = True) -> bytes:
    return tlv((0xA0 if constructed else 0x80) | number, content)


def sequence(*parts: bytes) -> bytes:
    return tlv(SEQUENCE, b"".join(parts))


def set_of(*parts: bytes) -> bytes:
    """A SET OF in the order of DER."""
    return tlv(SET, b"".join(sorted(parts)))


def unsorted_set(*parts: bytes) -> bytes:
    return tlv(SET, b"".join(parts))


def integer(value: int) -> bytes:
    return tlv(INTEGER, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))


def octet_string(content: bytes) -> bytes:
    return tlv(OCTET_STRING, content)


def bit_string(content: bytes, unused: int = 0) -> bytes:
    return tlv(BIT_STRING, bytes([unused]) + content)


def boolean(value: bool) -> bytes:
    return tlv(BOOLEAN, b"\xff" if value else b"\x00")


def null() -> bytes:
    return tlv(NULL, b"")


def oid(dotted: str) -> bytes:
    first, second, *rest = (int(arc) for arc in dotted.split("."))
    content = b""
    for arc in (40 * first + second, *rest):
        octets = [arc & 0x7F]
        while arc := arc >> 7:
            octets.append(0x80 | arc & 0x7F)
        content += bytes(reversed(octets))
    return tlv(OID, content)


def utf8(text: str) -> bytes:
    return tlv(UTF8_STRING, text.encode())


def ia5(text: str) -> bytes:
    return tlv(IA5_STRING, text.encode("ascii"))


def printable(text: str) -> bytes:
    return tlv(PRINTABLE_STRING, text.encode("ascii"))


def time(seconds: int) -> bytes:
    """A Time of RFC 5280: UTCTime before 2050, GeneralizedTime from then on."""
    import datetime

    instant = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    if 1950 <= instant.year < 2050:
        return tlv(UTC_TIME, instant.strftime("%y%m%d%H%M%SZ").encode())
    return tlv(GENERALIZED_TIME, instant.strftime("%Y%m%d%H%M%SZ").encode())


def read(data: bytes, at: int = 0) -> tuple[int, bytes, int]:
    """Tag, content and end of the value of definite length that begins at an offset. For changing what was encoded."""
    tag, first = data[at], data[at + 1]
    start = at + 2
    count = first
    if first & 0x80:
        count = int.from_bytes(data[start : start + (first & 0x7F)], "big")
        start += first & 0x7F
    return tag, data[start : start + count], start + count


def children(content: bytes) -> list[bytes]:
    """The encoded values that stand one after the other."""
    parts, at = [], 0
    while at < len(content):
        _, _, end = read(content, at)
        parts.append(content[at:end])
        at = end
    return parts
