#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: Packaging/icu_data.py LIBRARY OBJECT

Writes an object file with the part of ICU's data that receipt-tool uses, for linking in place of the data in Swift's
static library lib_FoundationICU.a, which are half of a static executable. Prints the symbol to give to --wrap of the
linker, so that what refers to the library's data finds the object's.

receipt-tool writes prices in the customary form of each region and knows the language and currency of each: it needs
the locales, the currencies and what they refer to. The groups in UNUSED serve collation, text boundaries, character
sets, transliteration, numbers in words, and the names of languages, regions, time zones and units.

Debian's icupkg refuses data with this many items. The format is ICU's common data, described in its ucmndata.h: a
header with its own length, then a table of the names' and the items' offsets, sorted by name.
"""

import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

UNUSED = re.compile(r"(brkitr|coll|lang|rbnf|region|translit|unit|zone)/|.*\.(cnv|cfu|spp)$|unames\.icu$")
MEMBER = "icu_packaged_data.cpp.o"
ALIGNMENT = 16


def read(data: bytes) -> tuple[bytes, dict[str, bytes]]:
    """The header, and the items by name."""
    start, magic = struct.unpack_from("<H2s", data)
    if magic != b"\xda\x27" or data[12:16] != b"CmnD":
        sys.exit("icu_data: this is no common data of ICU; was its format changed?")
    count = struct.unpack_from("<I", data, start)[0]
    offsets = [struct.unpack_from("<II", data, start + 4 + 8 * index) for index in range(count)]
    names = [data[start + name : data.index(b"\0", start + name)].decode() for name, _ in offsets]
    ends = [item for _, item in offsets[1:]] + [len(data) - start]
    return data[:start], {
        name: data[start + item : start + end] for name, (_, item), end in zip(names, offsets, ends, strict=True)
    }


def write(header: bytes, items: dict[str, bytes]) -> bytes:
    names, table, body = b"", b"", b""
    first_name = 4 + 8 * len(items)
    first_item = first_name + sum(len(name) + 1 for name in items)
    first_item += -first_item % ALIGNMENT
    for name, item in items.items():
        table += struct.pack("<II", first_name + len(names), first_item + len(body))
        names += name.encode() + b"\0"
        body += item + bytes(-len(item) % ALIGNMENT)
    contents = struct.pack("<I", len(items)) + table + names
    return header + contents + bytes(first_item - len(contents)) + body


def main(library: str, output: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["ar", "x", Path(library).resolve(), MEMBER], cwd=folder, check=True)
        member, whole, part = (Path(folder, name) for name in (MEMBER, "whole.dat", "part.dat"))
        symbols = subprocess.run(["nm", member], check=True, capture_output=True, text=True).stdout.split()
        if len(symbols) != 3 or not re.fullmatch(r"icudt\d+_dat", symbols[2]):
            sys.exit(f"icu_data: {MEMBER} has other symbols than ICU's data: {symbols}")
        subprocess.run(["objcopy", "-O", "binary", "-j", ".rodata", member, whole], check=True)
        header, items = read(whole.read_bytes())
        kept = {name: item for name, item in items.items() if not UNUSED.match(name.split("/", 1)[1])}
        part.write_bytes(write(header, kept))
        assembly = f"""
          .section .rodata
          .balign {ALIGNMENT}
          .globl __wrap_{symbols[2]}
          __wrap_{symbols[2]}: .incbin "{part}"
          .section .note.GNU-stack, "", @progbits
        """
        subprocess.run(["clang", "-c", "-x", "assembler", "-", "-o", output], input=assembly, text=True, check=True)
    size, kept_size = (sum(map(len, some.values())) for some in (items, kept))
    print(f"icu_data: {len(kept)} of {len(items)} items, {kept_size:,} of {size:,} bytes", file=sys.stderr)
    print(symbols[2])


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
