// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

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
  private final class Entry: Sendable {
    let carrier: [UInt8]
    let chains: [SigningChain]

    init(carrier: [UInt8], chains: [SigningChain]) {
      self.carrier = carrier
      self.chains = chains
    }
  }

  /// Real stores have a handful of signers at a time.
  static let capacity = 64

  /// The longest carrier that is kept, in bytes; genuine ones have about 5,000. Unsigned certificates can be
  /// added to a genuine app receipt without end, and each would be another carrier.
  static let maximumCarrierLength = 16_384

  /// The ones in use drift to the front.
  private let entries = Mutex<[Entry]>([])

  /// The chains that these bytes carried before.
  func chains(carriedBy carrier: Span<UInt8>) -> [SigningChain]? {
    // Compared outside the lock, so that many threads do not wait for each other.
    let entries = self.entries.withLock { $0 }
    for (index, entry) in entries.enumerated() {
      let stored = entry.carrier
      if hasEqualBytes(stored.span, carrier) {
        if index > 0 { promote(entry) }
        return entry.chains
      }
    }
    return nil
  }

  /// Remembers good chains under which something was signed; the least used gives way.
  func remember(_ chains: [SigningChain], carriedBy carrier: [UInt8]) {
    guard carrier.count <= Self.maximumCarrierLength else { return }
    let entry = Entry(carrier: carrier, chains: chains)
    entries.withLock { entries in
      if entries.contains(where: { $0.carrier == carrier }) { return }
      if entries.count >= Self.capacity { entries.removeLast() }
      entries.append(entry)
    }
  }

  /// How many carriers are kept.
  var count: Int { entries.withLock { $0.count } }

  private func promote(_ entry: Entry) {
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
