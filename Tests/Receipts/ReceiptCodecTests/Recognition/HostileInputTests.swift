// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ReceiptCodec

/// No input crashes or hangs a parser. What is damaged may still parse, since damage to a signature is for
/// the verifier to find.
@Suite("Hostile input")
struct HostileInputTests {
  /// Everything a reader of receipts does, whatever comes of it; returns whether all of it worked.
  @discardableResult
  private func readAll(_ bytes: [UInt8]) -> Bool {
    do throws(MalformedReceipt) {
      switch try UnverifiedReceipt(parsing: bytes) {
      case .jws(let jws):
        _ = try jws.header()
        _ = try jws.decoded().content
      case .appReceipt(let receipt):
        let payload = try receipt.decoded().content
        #expect(payload.encoded() == Array(receipt.signedData.content))
        _ = payload.attributes.count + payload.inAppPurchases.reduce(0) { $0 + $1.attributes.count }
      case .transactionReceipt(let receipt):
        _ = try receipt.decoded().content.encoded()
      case .detached(let receipt):
        _ = try DetachedContent(decoding: receipt.signedBytes).encoded()
      }
      return true
    } catch {
      #expect(!error.message.isEmpty)
      return false
    }
  }

  static let samples: [(name: String, bytes: [UInt8])] = {
    var samples = [("app receipt", SampleReceipts.appReceipt), ("JWS", SampleReceipts.jws)]
    if let receipt = try? SampleReceipts.transactionReceipt() {
      samples.append(("transaction receipt", receipt))
    }
    return samples
  }()

  @Test("Truncations at every byte are refused", arguments: samples.indices)
  func truncations(index: Int) {
    let bytes = Self.samples[index].bytes
    #expect(readAll(bytes))
    for count in bytes.indices where Self.samples[index].name != "JWS" {
      #expect(!readAll(Array(bytes[..<count])), "\(count) bytes")
    }
    for count in bytes.indices { readAll(Array(bytes[..<count])) }
  }

  @Test("Every single-bit flip is survived", arguments: samples.indices)
  func bitFlips(index: Int) {
    var bytes = Self.samples[index].bytes
    for position in bytes.indices {
      for bit in 0..<8 {
        bytes[position] ^= 1 << UInt8(bit)
        readAll(bytes)
        bytes[position] ^= 1 << UInt8(bit)
      }
    }
    #expect(readAll(bytes))
  }

  @Test("Every value of every byte of the header of an app receipt is survived")
  func headerBytes() {
    var bytes = SampleReceipts.appReceipt
    for position in 0..<80 {
      let original = bytes[position]
      for value in UInt8.min...UInt8.max {
        bytes[position] = value
        readAll(bytes)
      }
      bytes[position] = original
    }
  }

  @Test("Random bytes are refused")
  func random() {
    var generator = FixedGenerator(state: 0x5EED)
    for first in [0x30, 0x7B, 0x4D, 0x65, 0x22, 0x00] as [UInt8] {
      for _ in 0..<500 {
        let count = Int(generator.next() % 200)
        let bytes = [first] + (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        #expect(!readAll(bytes))
      }
    }
  }

  /// SplitMix64, for numbers that are the same in each run.
  private struct FixedGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var word = state
      word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
      return word ^ (word >> 31)
    }
  }

  @Test(
    "A genuine receipt of each kind survives every truncation and bit flip",
    .enabled(if: GenuineReceiptFolder.isPresent, "SKIPPED: no genuine receipts; set RECEIPTKIT_SHARED."),
    arguments: [
      "app-receipt/mindnode-mac-2023-sha256.der", "app-receipt/xcode-evermatch-2020.b64",
      "transaction-receipt/v2-dailyburn-2011.plist",
    ])
  func genuine(file: String) throws {
    let entry = try #require(GenuineReceiptFolder.entries.first { $0.file == file })
    var bytes = try entry.binary()
    #expect(readAll(bytes))
    for count in stride(from: 0, to: bytes.count, by: 7) { #expect(!readAll(Array(bytes[..<count]))) }
    for position in bytes.indices {
      let bit: UInt8 = 1 << UInt8(position % 8)
      bytes[position] ^= bit
      readAll(bytes)
      bytes[position] ^= bit
    }
  }
}
