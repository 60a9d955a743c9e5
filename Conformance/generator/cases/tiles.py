# SPDX-License-Identifier: Apache-2.0
"""A log as static files (C2SP tlog-tiles): the checkpoint, the tiles of its tree, and the bundles of its entries."""

import log
from suite import Suite, b64, flag

from cases.checkpoints import LOG, OTHER
from cases.inclusion import HASHING, flipped
from cases.trees import root_of

MISSING = flag(
    "TileMissing", "The tree of the checkpoint has a tile or a bundle that is not among the files.",
    "Nobody can check what the log says about the records whose hashes are missing.", "C2SP tlog-tiles",
)  # fmt: skip
ALTERED = flag(
    "TileAltered", "A file does not have the hashes of what is below it, or not as many as the tree of the checkpoint.",
    "A program that trusts the file makes proofs that lead nowhere, or shows records that the log never had.",
    "C2SP tlog-tiles",
)  # fmt: skip
OTHER_TREE = flag(
    "TilesOfAnotherTree", "The files are those of another tree than the checkpoint's.",
    "The log's signature is taken for one over records that it does not cover.", "C2SP tlog-tiles",
)  # fmt: skip
WIDTH = 256


def entry(number: int) -> bytes:
    return log.record(number)


def bundle(entries: list[bytes]) -> bytes:
    return b"".join(len(each).to_bytes(2, "big") + each for each in entries)


def path(folder: str, number: int, width: int) -> str:
    return f"tile/{folder}/{number:03d}" + ("" if width == WIDTH else f".p/{width}")


def log_files(entries: list[bytes], *, origin: str = LOG.name, key: log.Key = LOG) -> dict[str, bytes]:
    """The files of a log of fewer than 65,536 entries."""
    hashes = [log.leaf(each) for each in entries]
    files = {"checkpoint": log.signed(log.checkpoint(origin, len(entries), root_of(hashes)), key).encode()}
    for start in range(0, len(entries), WIDTH):
        part = range(start, min(start + WIDTH, len(entries)))
        files[path("0", start // WIDTH, len(part))] = b"".join(hashes[number] for number in part)
        files[path("entries", start // WIDTH, len(part))] = bundle([entries[number] for number in part])
    upper = [root_of(hashes[start : start + WIDTH]) for start in range(0, len(entries) - WIDTH + 1, WIDTH)]
    if upper:
        files[path("1", 0, len(upper))] = b"".join(upper)
    return files


class Files:
    def __init__(self, suite: Suite):
        self.suite = suite

    def add(self, name: str, description: str, files: dict[str, bytes | None], verdict: str, *, keys=(LOG,), **options) -> None:
        origin = options.pop("origin", None)
        input = {
            "keys": [key.text for key in keys], "origin": origin,
            "files": {path: b64(data) for path, data in files.items() if data is not None},
        }  # fmt: skip
        input = {member: value for member, value in input.items() if value is not None}
        self.suite.add(f"tlog-tiles::{name}", description, input, verdict, operation="tlog-tiles", **options)

    def valid(self, name: str, description: str, entries: list[bytes], changes: dict | None = None, **options) -> None:
        root = root_of([log.leaf(each) for each in entries])
        values = {"origin": LOG.name, "size": len(entries), "rootHash": b64(root)}
        self.add(name, description, log_files(entries) | (changes or {}), "valid", values=values, **options)

    def refused(
        self, name: str, description: str, reason: str, flag: str | None, changes: dict[str, bytes | None], size: int = 5,
        verdict: str = "invalid", **options,
    ) -> None:  # fmt: skip
        files = log_files([entry(number) for number in range(size)])
        self.add(name, description, files | changes, verdict, reason=reason, flags=[flag] if flag else [],
                 importance="critical", **options)  # fmt: skip


def add(suite: Suite) -> None:
    files = Files(suite)
    for part in (sizes, contents, missing, altered, bundles, other_trees, checkpoints):
        part(files)


def first(size: int) -> list[bytes]:
    return [entry(number) for number in range(size)]


def sizes(files: Files) -> None:
    files.valid("size-0::whole", "A log without entries has a checkpoint alone.", [])
    for size in (1, 2, 3, 5, 8, 255, 256, 257, 300):
        files.valid(f"size-{size}::whole", f"A log of {size} entries.", first(size), flags=[HASHING])
    files.valid("size-513::whole", "Two full tiles, and one of a single hash.", first(513), flags=[HASHING])


def contents(files: Files) -> None:
    for name, description, entries in (
        ("empty-entries", "Entries may have no octets.", [b"", b"a", b""]),
        ("equal-entries", "Equal entries stand as often as they are.", [b"a"] * 4),
        ("binary-entries", "Entries are octets of any value.", [bytes(range(256)), b"\0\0\0\1", b"\xff" * 9]),
        ("entry-of-256-octets", "A length of two octets, the most significant first.", [b"a" * 256, b"b"]),
        ("longest-entry", "An entry of 65,535 octets.", [b"a" * 65_535, b"b"]),
    ):
        files.valid(f"content::{name}", description, entries)
    older = {name: data for size in (3, 4) for name, data in log_files(first(size)).items() if name != "checkpoint"}
    files.valid("beside::older", "Partial tiles of earlier checkpoints are there, as a log must keep them.", first(5), older)
    newer = {name: data for name, data in log_files(first(9)).items() if name != "checkpoint"}
    files.valid("beside::newer", "Partial tiles of a later tree are there, whose checkpoint is not yet.", first(5), newer)
    newer = {name: data for name, data in log_files(first(300)).items() if name != "checkpoint"}
    files.valid("beside::newer-full", "The full tiles of a later tree are there too.", first(5), newer)
    files.valid("beside::other-files", "Files that are none of the log do not matter.", first(5),
                {"robots.txt": b"User-agent: *\n", "tile/0/000.p/05": b"other"})  # fmt: skip
    full = dict(newer)
    for size in (5, 255):
        gone = {path(folder, 0, size): None for folder in ("0", "entries")}
        files.add(
            f"beside::partial-{size}-deleted", "The log deleted the partial tile when the full one was there. It may, and a "
            "reader may take the full one.", log_files(first(size)) | full | gone, "either", importance="low",
        )  # fmt: skip


def missing(files: Files) -> None:
    def case(name: str, description: str, size: int, *paths: str) -> None:
        changes = dict.fromkeys(paths)
        if not changes.keys() <= log_files(first(size)).keys():
            raise ValueError(name)
        files.refused(f"missing::{name}", description, "missing", MISSING, changes, size)

    case("checkpoint", "There is no checkpoint.", 5, "checkpoint")
    case("tile", "There is no tile.", 5, "tile/0/000.p/5")
    case("bundle", "There is no bundle of entries.", 5, "tile/entries/000.p/5")
    case("last-tile", "The last, partial tile is not there.", 300, "tile/0/001.p/44")
    case("last-bundle", "The last, partial bundle is not there.", 300, "tile/entries/001.p/44")
    case("full-tile", "The full tile is not there.", 300, "tile/0/000")
    case("full-bundle", "The full bundle is not there.", 300, "tile/entries/000")
    case("upper-tile", "The tile of level 1 is not there.", 300, "tile/1/000.p/1")
    case("upper-tile-of-256", "A tree of 256 entries has a tile of level 1 with one hash.", 256, "tile/1/000.p/1")
    wide = log_files(first(5))
    for name, description, other in (
        ("name-other-width", "The partial tile has the name of another width.", "tile/0/000.p/6"),
        ("name-without-zeros", "The number in the tile's name is not of three digits.", "tile/0/0.p/5"),
        ("name-other-level", "The tile has the name of another level.", "tile/1/000.p/5"),
    ):
        files.refused(f"missing::{name}", description, "missing", MISSING,
                      {"tile/0/000.p/5": None, other: wide["tile/0/000.p/5"]})  # fmt: skip


def altered(files: Files) -> None:
    def case(name: str, description: str, size: int, file: str, data: bytes) -> None:
        files.refused(f"altered::{name}", description, "altered", ALTERED, {file: data}, size)

    small, large = log_files(first(5)), log_files(first(300))
    tile, wide, upper = "tile/0/000.p/5", "tile/0/000", "tile/1/000.p/1"
    for number in (0, 2, 4):
        case(f"hash-{number}", f"Hash {number} of 5 is altered.", 5, tile, flipped(small[tile], 32 * number))
    for number in (0, 31, 32, 255):
        case(f"full-tile-hash-{number}", f"Hash {number} of a full tile is altered.", 300, wide,
             flipped(large[wide], 32 * number + 31))  # fmt: skip
    case("partial-tile", "A hash of the tile behind a full one is altered.", 300, "tile/0/001.p/44",
         flipped(large["tile/0/001.p/44"], 0))
    case("upper-tile", "The hash of level 1 is altered.", 300, upper, flipped(large[upper], 0))
    case("upper-tile-of-256", "The hash of level 1 is altered, and the tree is complete.", 256, upper,
         flipped(large[upper], 31))  # fmt: skip
    two = log_files(first(513))
    case("upper-tile-second", "The second hash of level 1 is altered.", 513, "tile/1/000.p/2",
         flipped(two["tile/1/000.p/2"], 32))
    case("upper-tile-swapped", "The two hashes of level 1 are exchanged.", 513, "tile/1/000.p/2",
         two["tile/1/000.p/2"][32:] + two["tile/1/000.p/2"][:32])
    case("hashes-swapped", "Two hashes are exchanged.", 5, tile,
         small[tile][32:64] + small[tile][:32] + small[tile][64:])  # fmt: skip
    case("tile-short", "The tile lacks its last hash.", 5, tile, small[tile][:-32])
    case("tile-long", "The tile has a hash too many.", 5, tile, small[tile] + small[tile][:32])
    case("tile-cut", "The tile lacks its last octet.", 5, tile, small[tile][:-1])
    case("tile-empty", "The tile is empty.", 5, tile, b"")
    case("tile-of-entries", "The tile has the bundle's octets.", 5, tile, small["tile/entries/000.p/5"])
    case("upper-tile-long", "The tile of level 1 counts the partial tile below it.", 300, upper,
         large[upper] + root_of([log.leaf(each) for each in first(300)[256:]]))  # fmt: skip


def bundles(files: Files) -> None:
    def case(name: str, description: str, data: bytes, size: int = 5, file: str = "tile/entries/000.p/5") -> None:
        files.refused(f"entries::{name}", description, "altered", ALTERED, {file: data}, size)

    entries = first(5)
    case("altered", "An entry is altered.", bundle([*entries[:2], b"record X", *entries[3:]]))
    case("swapped", "Two entries are exchanged.", bundle([entries[1], entries[0], *entries[2:]]))
    case("short", "The last entry is missing.", bundle(entries[:-1]))
    case("long", "There is an entry too many.", bundle(first(6)))
    case("cut", "The last entry lacks an octet.", bundle(entries)[:-1])
    case("length-cut", "After the last entry there is half a length.", bundle(entries) + b"\0")
    case("empty", "The bundle is empty.", b"")
    case("lengths-little-endian", "The lengths have the least significant octet first.",
         b"".join(len(each).to_bytes(2, "little") + each for each in entries))
    case("lengths-of-four-octets", "The lengths have four octets.",
         b"".join(len(each).to_bytes(4, "big") + each for each in entries))
    case("boundary-moved", "An octet belongs to the entry before it.", bundle([b"record 0r", b"ecord 1", *entries[2:]]))
    many = first(300)
    case("full-altered", "An entry of a full bundle is altered.", bundle([*many[:255], b"record X"]), 300, "tile/entries/000")
    case("partial-altered", "An entry of the bundle behind a full one is altered.", bundle([b"record X", *many[257:]]), 300,
         "tile/entries/001.p/44")  # fmt: skip


def other_trees(files: Files) -> None:
    other = [*first(4), b"record X"]
    names = ("tile/0/000.p/5", "tile/entries/000.p/5")
    changed = {name: log_files(other)[name] for name in names}
    files.refused("tree::last-entry", "Tile and bundle agree on another last entry.", "wrong-root", OTHER_TREE, changed)
    changed = {name: log_files([b"record X", *first(5)[1:]])[name] for name in names}
    files.refused("tree::first-entry", "Tile and bundle agree on another first entry.", "wrong-root", OTHER_TREE, changed)
    text = log.checkpoint(LOG.name, 5, flipped(root_of([log.leaf(each) for each in first(5)]), 31))
    files.refused("tree::root", "The log signed another root.", "wrong-root", OTHER_TREE,
                  {"checkpoint": log.signed(text, LOG).encode()})  # fmt: skip
    text = log.checkpoint(LOG.name, 300, root_of([log.leaf(each) for each in [*first(299), b"record X"]]))
    files.refused("tree::root-of-300", "The log signed another root, and the tree has two levels.", "wrong-root", OTHER_TREE,
                  {"checkpoint": log.signed(text, LOG).encode()}, 300)  # fmt: skip
    for size, name in ((4, "smaller"), (6, "larger")):
        newer = log_files(first(size))["checkpoint"]
        files.refused(f"tree::{name}", f"The checkpoint is of {size} entries, and the files of 5.", "missing", OTHER_TREE,
                      {"checkpoint": newer})  # fmt: skip
    text = log.checkpoint(LOG.name, 4, root_of([log.leaf(each) for each in first(5)]))
    smaller = {name: data for name, data in log_files(first(4)).items() if name != "checkpoint"}
    files.refused("tree::root-of-another-size", "The checkpoint has the root of 5 entries and the size 4.", "wrong-root",
                  OTHER_TREE, smaller | {"checkpoint": log.signed(text, LOG).encode()})  # fmt: skip


def checkpoints(files: Files) -> None:
    tree = root_of([log.leaf(each) for each in first(5)])
    good = log.checkpoint(LOG.name, 5, tree)

    def case(name: str, description: str, note: str, reason: str, verdict: str = "invalid", **options) -> None:
        changes = {"checkpoint": note.encode()}
        files.refused(f"checkpoint::{name}", description, reason, None, changes, verdict=verdict, **options)

    case("signature", "The signature is one of another text.", log.note(good, LOG.line(good + "x\n")), "signature-mismatch")
    case("other-key", "Another key signed the checkpoint.", log.signed(good, OTHER), "key-missing", "undetermined")
    case("malformed", "The size has a zero in front, and is signed so.",
         log.signed(log.checkpoint(LOG.name, "05", tree), LOG), "malformed")
    case("origin", "The checkpoint is of another origin than the caller asked for.", log.signed(good, LOG), "wrong-origin",
         origin="log.example/elsewhere")
    files.refused("checkpoint::empty-root", "A log without entries has another root than the empty tree.", "wrong-root", None,
                  {"checkpoint": log.signed(log.checkpoint(LOG.name, 0, tree), LOG).encode()}, 0)  # fmt: skip
