// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCrypto
import TransparencyLog

/// A key that is the same in every run. It protects nothing.
func signer(_ name: String, _ seed: UInt8 = 1) throws -> NoteSignerKey {
  try NoteSignerKey(
    name: name, privateKey: Ed25519PrivateKey(rawRepresentation: [UInt8](repeating: seed, count: 32)))
}

/// The cosignature, of the time 0, of the witness with the key that ``signer(_:_:)`` makes of `seed`.
func cosignatureOfTimeZero(
  of checkpoint: Checkpoint, by witness: NoteSignerKey, seed: UInt8
) throws -> NoteSignature {
  let key = try Ed25519PrivateKey(rawRepresentation: [UInt8](repeating: seed, count: 32))
  let signature = try key.signature(for: Array("cosignature/v1\ntime 0\n".utf8) + checkpoint.text)
  let keyID = (0..<4).reversed().map {
    UInt8(truncatingIfNeeded: witness.cosignatureVerifierKey.keyID >> (8 * $0))
  }
  let bytes = keyID + [UInt8](repeating: 0, count: 8) + signature
  return try NoteSignature(line: "— \(witness.name) \(Base64.encodeToString(bytes))")
}

/// Asserts the code and the place of a format error.
func expectFormatError(
  _ code: LogFormatError.Code, _ place: LogFormatError.Place, _ text: String,
  _ parse: ([UInt8]) throws -> Void
) -> Bool {
  do {
    try parse(Array(text.utf8))
    return false
  } catch let error as LogFormatError {
    if error.code == code, error.place == place { return true }
    print("expected \(code) \(place), got \(error)")
    return false
  } catch { return false }
}

/// Each byte with each of its bits flipped, as each character that means something in a format, left out, and
/// doubled; such characters added at each place; and every beginning of the bytes.
func forEachMutation(of bytes: [UInt8], _ body: (_ position: Int, _ mutated: [UInt8]) throws -> Void) rethrows
{
  let meaningful = Array("\0\n\r =+/A9".utf8) + [0xFF]
  for position in bytes.indices {
    for value in Set((0..<8).map { bytes[position] ^ 1 << $0 } + meaningful) where value != bytes[position] {
      var mutated = bytes
      mutated[position] = value
      try body(position, mutated)
    }
    var shortened = bytes
    shortened.remove(at: position)
    try body(position, shortened)
    for value in meaningful + [bytes[position]] {
      var longer = bytes
      longer.insert(value, at: position)
      if longer != bytes { try body(position, longer) }
    }
    try body(position, Array(bytes[..<position]))
  }
  for value in UInt8.min...UInt8.max { try body(bytes.count, bytes + [value]) }
}
