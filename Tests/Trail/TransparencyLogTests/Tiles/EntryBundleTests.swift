// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing
import TransparencyLog

@Suite struct EntryBundleTests {
  @Test func `a bundle is the entries with their lengths`() throws {
    let bundle = try EntryBundle([Array("hello".utf8), [], Array("hi".utf8)])
    #expect(bundle.encoded == [0, 5] + Array("hello".utf8) + [0, 0, 0, 2] + Array("hi".utf8))
    #expect(try EntryBundle(parsing: bundle.encoded) == bundle)
    #expect(try EntryBundle(parsing: bundle.encoded, width: 3) == bundle)
  }

  @Test func `the limits are 256 entries of 65,535 bytes`() throws {
    let largest = [UInt8](repeating: 7, count: 65_535)
    let bundle = try EntryBundle([[UInt8]](repeating: largest, count: 2) + Array(repeating: [], count: 254))
    #expect(try EntryBundle(parsing: bundle.encoded, width: 256) == bundle)
    for (entries, code) in [
      ([], LogFormatError.Code.wrongCount), (Array(repeating: [], count: 257), .wrongCount),
      ([largest + [7]], .entryTooLong),
    ] {
      let error = #expect(throws: LogFormatError.self) { try EntryBundle(entries) }
      #expect(error?.code == code)
    }
  }

  @Test(
    arguments: [
      ([], nil, LogFormatError.Code.wrongCount, 0), ([0], nil, .truncated, 0), ([0, 1], nil, .truncated, 0),
      ([0, 1, 7, 0], nil, .truncated, 3), ([0, 1, 7, 0, 2, 7], nil, .truncated, 3),
      ([0, 1, 7], 2, .wrongCount, 3), ([0, 1, 7, 0, 0], 1, .wrongCount, 5),
      ([UInt8](repeating: 0, count: 514), nil, .wrongCount, 512), ([0xFF, 0xFF], nil, .truncated, 0),
    ] as [([UInt8], Int?, LogFormatError.Code, Int)])
  func `faults are named with their offset`(
    bytes: [UInt8], width: Int?, code: LogFormatError.Code, offset: Int
  ) {
    let error = #expect(throws: LogFormatError.self) { try EntryBundle(parsing: bytes, width: width) }
    #expect(error?.code == code)
    #expect(error?.place == .byte(offset))
  }

  @Test func `no mutation of a bundle has the hashes of its tile`() throws {
    let bundle = try EntryBundle((0..<20).map { Array("entry \($0)".utf8) } + [[], [0], [0, 0, 0]])
    let hashes = bundle.entries.map { TreeHash.leaf($0) }
    forEachMutation(of: bundle.encoded) { position, mutated in
      guard let parsed = try? EntryBundle(parsing: mutated) else { return }
      #expect(parsed.encoded == mutated)
      #expect(parsed.entries.map { TreeHash.leaf($0) } != hashes, "byte \(position)")
    }
  }
}
