// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if THREAD_SANITIZER
  internal import ThreadSanitizing
#endif

/// Remembers the certificate chains that were found good, by the very bytes that carried them, so that they
/// are parsed and checked once and not for each receipt.
///
/// A chain is remembered once a signature under it was found right, and only when what carried it is short, so
/// that hostile receipts can neither fill the memory nor push out a genuine signer. What is kept says nothing
/// about time: that is judged for every receipt.
///
/// Carriers of different kinds never equal each other: a JWS header is base64url, an app receipt's carrier ends
/// with lengths, of which all the upper bytes are zero, and a transaction receipt's begins with its version.
final class KnownSigners: Sendable {
  /// Real stores have a handful of signers at a time.
  static let capacity = 64

  /// The longest carrier that is kept, in bytes; genuine ones have about 5,000. Unsigned certificates can be
  /// added to a genuine app receipt without end, and each would be another carrier.
  static let maximumCarrierLength = 16_384

  /// The ones in use drift to the front.
  private let entries = Mutex<[KnownSigner]>([])

  /// The signer that these bytes named before.
  func signer(carriedBy carrier: Span<UInt8>) -> KnownSigner? {
    // Compared outside the lock, so that many threads do not wait for each other.
    let entries = self.entries.withLock { $0 }
    for (index, entry) in entries.enumerated() {
      let stored = entry.carrier
      if hasEqualBytes(stored.span, carrier) {
        if index > 0 { promote(entry) }
        return entry
      }
    }
    return nil
  }

  /// Remembers a signer under which something was signed; the least used gives way.
  func remember(_ signer: KnownSigner) {
    guard signer.carrier.count <= Self.maximumCarrierLength else { return }
    entries.withLock { entries in
      if entries.contains(where: { $0.carrier == signer.carrier }) { return }
      if entries.count >= Self.capacity { entries.removeLast() }
      entries.append(signer)
    }
  }

  /// How many carriers are kept.
  var count: Int { all.count }

  /// The signers that are kept.
  var all: [KnownSigner] { entries.withLock { $0 } }

  private func promote(_ entry: KnownSigner) {
    entries.withLock { entries in
      guard let index = entries.firstIndex(where: { $0 === entry }), index > 0 else { return }
      entries.swapAt(index, index - 1)
    }
  }
}

/// Whether two runs of bytes are equal, compared from the end: carriers of different signers tend to begin
/// alike.
func hasEqualBytes(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
  guard left.count == right.count else { return false }
  let leftBytes = unsafe left.bytes
  let rightBytes = unsafe right.bytes
  var end = left.count
  while end >= 8 {
    end -= 8
    let a = unsafe leftBytes.unsafeLoadUnaligned(fromByteOffset: end, as: UInt64.self)
    let b = unsafe rightBytes.unsafeLoadUnaligned(fromByteOffset: end, as: UInt64.self)
    if a != b { return false }
  }
  for index in 0..<end where left[index] != right[index] { return false }
  return true
}
