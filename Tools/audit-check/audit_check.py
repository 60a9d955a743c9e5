#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks proofs and exports of an audit trail, with nothing but Python 3.9 or later and its package cryptography.

A trail is a log as C2SP specifies logs (https://c2sp.org), over the tree of RFC 6962. Take its key from a place that you
trust: a key that comes with a proof proves nothing. Exit code: 0 all verified; 1 not verified; 2 a wrong option."""
import argparse, base64, collections, hashlib, json, os, re, sys
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
Key = collections.namedtuple("Key", "name id kind public")
Note = collections.namedtuple("Note", "text origin size root lines")
Proof = collections.namedtuple("Proof", "entry index hashes head")

def require(condition, message):  # Every ValueError, KeyError and OSError means: not verified.
    if not condition: raise ValueError(message)
def read(path, limit=2_000_000):
    if os.path.exists(path): require(os.path.isfile(path) and os.path.getsize(path) <= limit, f"{path}: no file, or too large")
    with open(path, "rb") as file: return file.read(limit)
def matched(pattern, text, what):
    found = re.fullmatch(pattern, text, re.S)
    require(found, f"there is no {what} where one must be")
    return found.groups()
def number(text): return int(matched("(0|[1-9][0-9]{0,18})", text, "number")[0])  # One spelling.
def encode(data): return base64.b64encode(data).decode()
def decode(text, count=None):  # RFC 4648 section 4: with padding, and zeros after the last bit.
    data = base64.b64decode(text, validate=True)
    require(encode(data) == text and len(data) == (count or len(data)), "base64 has another form or length")
    return data
# The tree: RFC 6962 section 2.1 (RFC 9162 section 2.1.1).
def sha256(data): return hashlib.sha256(data).digest()
def node(left, right): return sha256(b"\x01" + left + right)
def left_of(size): return 1 << (size - 1).bit_length() - 1  # The largest power of two below the size.
def root_of(hashes):
    if len(hashes) < 2: return hashes[0] if hashes else sha256(b"")
    return node(root_of(hashes[: left_of(len(hashes))]), root_of(hashes[left_of(len(hashes)) :]))
def root_from(hash, index, size, path):  # RFC 6962 section 2.1.1; the path ends with the hash nearest to the root.
    require(index < size and (size == 1) == (not path), "the proof has another number of hashes, or the tree no such entry")
    if size == 1: return hash
    if index < left_of(size): return node(root_from(hash, index, left_of(size), path[:-1]), path[-1])
    return node(path[-1], root_from(hash, index - left_of(size), size - left_of(size), path[:-1]))
# Keys, checkpoints, their signatures: C2SP signed-note, tlog-checkpoint, tlog-cosignature.
def parse_key(text, kind):  # Type 1: Ed25519, which signs checkpoints. Type 4: Ed25519 of a witness, which cosigns them.
    name, key_id, data = matched(r"([^\s+\x00-\x1f]+)\+([0-9a-f]{8})\+(\S+)", text, "verifier key, NAME+ID+BASE64,")
    data = decode(data, 33)
    require(data[0] == kind, f"the key of {name} has type {data[0]}; type {kind} is needed here")
    require(sha256(name.encode() + b"\n" + data)[:4].hex() == key_id, "the key ID is not that of the name and key")
    return Key(name, bytes.fromhex(key_id), kind, data[1:])
def parse_checkpoint(data):
    text, line = data.decode(), "\u2014 ([^\\s+]+) ([^ \n]+)\n"
    require(len(data) <= 1_000_000 and not re.search("[\x00-\x09\x0b-\x1f]", text), "too large, or control characters")
    pattern = f"([^\n]+)\n([^\n]+)\n([^\n]+)\n(?:[^\n]+\n)*\n((?:{line}){{1,100}})"
    origin, size, root, signatures, *_ = matched(pattern, text, "checkpoint with 1 to 100 signature lines")
    lines = [(name, decode(signature)) for name, signature in re.findall(line, signatures)]
    require(all(len(each) > 4 for _, each in lines), "a signature line is too short")
    require(size != "0" or root == encode(sha256(b"")), "a tree without entries has another root")
    return Note(text[: -len(signatures) - 1].encode(), origin, number(size), decode(root, 32), lines)
def is_signed(note, key):  # All lines in the name of the key must be signatures by it.
    times = []
    for data in (data[4:] for name, data in note.lines if (name, data[:4]) == (key.name, key.id)):
        time, signature = (int.from_bytes(data[:8], "big"), data[8:]) if key.kind == 4 else (1, data)
        message = (b"cosignature/v1\ntime %d\n" % time if key.kind == 4 else b"") + note.text
        try: Ed25519PublicKey.from_public_bytes(key.public).verify(signature, message)
        except InvalidSignature: return False
        times.append(time)
    return any(times) and max(times) < 1 << 63  # A cosignature of the time 0 says nothing of newer checkpoints.
def check_signed(note, chain):  # By the key that signs now, or by one before it, up to the size at which it was replaced.
    require(any(note.origin == key.name and note.size <= largest and is_signed(note, key) for key, largest in chain),
            f"the checkpoint of {note.origin} with {note.size} entries is not signed by the trail's key, {chain[0][0].name}")
# Entries: a line for each field, in this order. Proofs: C2SP tlog-proof, whose extra data is the entry.
FIELDS = """time kind id format notification subtype receipt encoding transaction original product bundle environment expires
    revoked verdict reason signer root policy check key erased size newest count previous commitment""".split()
TEXT = "(?:[^\x00- %\x7f]|%(?:[01][0-9A-F]|20|25|7F))+"  # Controls, space and percent sign as % and two digits.
ENTRY = re.compile("receiptkit[.]dev/audit-entry@v2\n" + "".join(
    f"(?:check {TEXT} {TEXT}\n)*" if name == "check" else f"(?:{name} {TEXT}\n)" + "?" * (name not in ("time", "kind"))
    for name in FIELDS))
def parse_entry(data):
    require(len(data) < 1 << 16 and ENTRY.fullmatch(data.decode()), "no audit entry of version 2")
    pairs, entry = [line.split(" ", 1) for line in data.decode().split("\n")[1:-1]], {}
    for name, value in pairs: entry[name] = f"{entry[name]}, {value}" if name in entry else value
    return entry
def parse_proof(data):
    pattern = b"c2sp[.]org/tlog-proof@v1\nextra ([^\n]+)\nindex ([^\n]+)\n((?:[^\n]{44}\n){0,64})\n(.*)"
    entry, index, hashes, checkpoint = matched(pattern, data, "tlog-proof with an entry and at most 64 hashes")
    path = [decode(each.decode(), 32) for each in hashes.split(b"\n")[:-1]]
    return Proof(decode(entry.decode()), number(index.decode()), path, parse_checkpoint(checkpoint))
def parse_keys(data): return [parse_proof(each) for each in re.split(b"^(?=c2sp[.]org/tlog-proof@v1\n)", data, flags=re.M) if each]
def check_included(proof):
    found = root_from(sha256(b"\x00" + proof.entry), proof.index, proof.head.size, proof.hashes)
    require(found == proof.head.root, "the hashes do not lead from the entry to the root")
    return parse_entry(proof.entry)
def key_in(proof):  # The key that took over by an entry, which was the last one that the key before signed.
    entry = check_included(proof)
    require(entry["kind"] == "key" and parse_key(entry["key"], 1).name == proof.head.origin
            and proof.head.size == proof.index + 1 and len(proof.head.lines) == 1, "a proof is not of the end of a key")
    return parse_key(entry["key"], 1)
def chain_of(key, proofs):  # The keys from `key` on, each with the size of the largest tree that it may sign.
    chain = [(key, 1 << 64)]
    for proof in proofs:
        try: check_signed(proof.head, [(key, proof.index + 1)])
        except ValueError: continue
        chain[-1:], key = [(key, proof.index + 1), (key_in(proof), 1 << 64)], key_in(proof)
    return chain
def is_about(entry, data):  # Whether an entry is about a receipt: by its bytes, or by the signing input of a JWS (RFC 7515).
    text = data.strip().strip(b'"')
    plain = text.translate(bytes.maketrans(b"-_", b"+/"), b" \r\n\t=") if re.fullmatch(rb"[\w+/=\s-]+", text) else b""
    *forms, signed = (encode(sha256(each)) for each in [data, text, base64.b64decode(plain + b"=="), text.rpartition(b".")[0]])
    receipt, encoding = entry["receipt"], entry.get("encoding", entry["receipt"])
    return encoding in forms or receipt == signed != encoding
# Exports: C2SP tlog-tiles, and the trail's own files `keys`, `policies` and `erasable/`.
def place(number, width):
    parts = [f"{number % 1000:03}"]
    while number := number // 1000: parts.insert(0, f"x{number % 1000:03}")
    return "/".join(parts) + f".p/{width}" * (width < 256)
def split(data, count, prefix):  # Parts that each follow their length in `prefix` bytes.
    parts, end = [], 0
    while end < len(data):
        start, end = end + prefix, end + prefix + int.from_bytes(data[end : end + prefix], "big")
        parts.append(data[start:end])
    require(end == len(data) and len(parts) == count, f"a file does not have its {count} entries")
    return parts
def check_export(folder, key, older):
    def get(name, limit=1 << 26): return read(os.path.join(folder, name), limit)
    def get_if_any(name): return get(name) if os.path.exists(os.path.join(folder, name)) else b""
    head, proofs = parse_checkpoint(get("checkpoint")), parse_keys(get_if_any("keys"))
    chain = chain_of(key, proofs)
    check_signed(head, chain)
    if older: check_signed(older, [(key_in(proof), 1 << 64) for proof in proofs] + chain)
    unread = {os.path.join(at, name) for at, _, names in os.walk(os.path.join(folder, "erasable")) for name in names}
    has_parts, leaves, time, newest, replaced, policies, erasures, erased = len(unread) > 0, [], 0, {}, [], set(), set(), set()
    for first in range(0, head.size, 256):
        width, path = min(256, head.size - first), place(first >> 8, min(256, head.size - first))
        entries = split(get(f"tile/entries/{path}", 256 * 65537), width, 2)
        parts = split(get(f"erasable/{path}", 1 << 30), width, 4) if has_parts else [b""] * width
        unread.discard(os.path.join(folder, f"erasable/{path}"))
        for index, (data, part) in enumerate(zip(entries, parts), first):
            entry = parse_entry(data)
            previous, count = newest.get(entry.get("original"), (None, 0))
            require(number(entry["time"]) >= time, f"entry {index} is dated before the one in front of it")
            require(entry.get("previous") == previous, f"entry {index} does not lead to the one before it of its purchase")
            require(not part or encode(sha256(part)) == entry.get("commitment"), f"entry {index} has another erasable part")
            stated = entry["kind"] != "anchor" or [entry.get(name) for name in ("size", "newest", "count")]
            require(stated in (True, [str(index), previous, str(count)]), f"the anchor {index} states what is not so")
            if entry["kind"] == "key": replaced.append(index)
            if entry["kind"] == "erasure": erasures.add(number(entry["erased"]))
            if "original" in entry: newest[entry["original"]] = (str(index), count + 1)
            if "commitment" in entry and not part: erased.add(index)
            policies.add(entry.get("policy"))
            time = number(entry["time"])
            leaves.append(sha256(b"\x00" + data))
    require(root_of(leaves) == head.root, "the entries do not have the root of the checkpoint")
    level, hashes = 0, leaves
    while hashes:  # A tile has 256 hashes, or the rest of its level; the next level has the roots of the full tiles.
        tiles = [hashes[start : start + 256] for start in range(0, len(hashes), 256)]
        for count, tile in enumerate(tiles):
            path = f"tile/{level}/{place(count, len(tile))}"
            require(get(path, 8192) == b"".join(tile), f"{path} does not have the hashes of the entries below it")
        level, hashes = level + 1, [root_of(tile) for tile in tiles if len(tile) == 256]
    require(not has_parts or erasures == erased and not unread, "the erasable parts are not those that were not erased")
    require([proof.index for proof in proofs] == replaced and chain[-1][0] == (key_in(proofs[-1]) if proofs else key)
            and all(root_of(leaves[: proof.head.size]) == proof.head.root for proof in proofs), "keys does not lead to the last key")
    *texts, end = get_if_any("policies").split(b"\n\n")
    names = {encode(sha256(text + b"\n")) for text in texts}
    require(not end and len(names) == len(texts) and names <= policies, "the file policies has another text than entries name")
    require(not older or older.size <= head.size, f"rolled back: the kept checkpoint has more than {head.size} entries")
    require(not older or root_of(leaves[: older.size]) == older.root, "two histories: these are not the kept checkpoint's entries")
    return head
def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="+", help="a .tlog-proof, or the folder of an export")
    parser.add_argument("--key", required=True, help="the trail's verifier key, or a file with it")
    parser.add_argument("--keys", help="for proofs, if the trail's key was replaced: the file keys of an export")
    parser.add_argument("--receipt", help="for proofs: the receipt that the entries must be about")
    parser.add_argument("--since", help="for exports: a checkpoint that you kept, which the trail must continue")
    parser.add_argument("--witness", action="append", default=[], help="a key, or its file, that must have cosigned; repeatable")
    parser.add_argument("--json", action="store_true", help="print an object for each path")
    options, exit_code = parser.parse_args(), 0
    def key_of(text, kind): return parse_key(read(text).decode().split("\n")[0] if os.path.exists(text) else text, kind)
    try:
        key, witnesses = key_of(options.key, 1), [key_of(text, 4) for text in options.witness]
        require(len({each.public for each in witnesses}) == len(witnesses), "a witness is named twice")
        chain = chain_of(key, parse_keys(read(options.keys)) if options.keys else [])
        receipt = read(options.receipt, 1 << 24) if options.receipt else None
        older = parse_checkpoint(read(options.since)) if options.since else None
        require(not any(receipt or options.keys if os.path.isdir(path) else older for path in options.path), "an option is not for a path")
    except (ValueError, KeyError, OSError) as error: parser.error(str(error))
    for path in options.path:
        try:
            proof = None if os.path.isdir(path) else parse_proof(read(path))
            head, entry = (proof.head, check_included(proof)) if proof else (check_export(path, key, older), {})
            if proof: check_signed(head, chain)
            require(receipt is None or is_about(entry, receipt), "the entry is about another receipt than the one given")
            for each in witnesses: require(is_signed(head, each), f"{each.name} has not cosigned the checkpoint")
            facts = {"origin": head.origin, "treeSize": head.size, "rootHash": head.root.hex(), "index": proof and proof.index, **entry}
        except (ValueError, KeyError, OSError) as error: exit_code, head, facts = 1, None, {"reason": str(error)}
        facts = {name: value for name, value in facts.items() if value is not None}
        print(json.dumps({"path": path, "verified": head is not None, **facts}) if options.json else "\n".join(
            [f"{'VERIFIED' if head else 'NOT VERIFIED'}  {path}"] + [f"  {name} {json.dumps(value)}" for name, value in facts.items()]))
    return exit_code
if __name__ == "__main__": sys.exit(main())
