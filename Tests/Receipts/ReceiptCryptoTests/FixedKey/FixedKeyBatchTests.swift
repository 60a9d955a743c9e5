// SPDX-License-Identifier: Apache-2.0

@testable import ReceiptCrypto
import Testing

/// A bad signature costs only itself, wherever it stands.
@Suite(.enabled(if: FixedKeyVerifier.isAvailable, "this libcrypto makes no tables"))
struct FixedKeyBatchTests {
  private let key: PrivateKey
  private let verifier: FixedKeyVerifier
  private let good: [FixedKeySample]
  private let bad: [FixedKeySample]

  init() throws {
    var generator = SystemRandomNumberGenerator()
    let key = try PrivateKey.generateP256()
    self.key = key
    verifier = try #require(FixedKeyVerifier(key.publicKey))
    good = try (0..<130).map { _ in
      try FixedKeySample(signedBy: key, changed: .nothing, using: &generator)
    }
    let changes = FixedKeySample.Change.allCases.filter { $0 != .nothing && $0 != .negatedS }
    bad = try (0..<130).map {
      try FixedKeySample(signedBy: key, changed: changes[$0 % changes.count], using: &generator)
    }
  }

  /// Every position up to beyond the second batch, and in the full sweep of sizes 67 to 130 too; otherwise
  /// the first, the last and one between for those.
  @Test func `batches of every size find the one bad signature at any position`() throws {
    for count in 1...130 {
      let samples = Array(good[..<count])
      #expect(try verifier.validities(samples) == [Bool](repeating: true, count: count))
      let positions =
        count <= 66 || FullSweeps.areWanted
        ? Array(0..<count) : [0, Int.random(in: 1..<count - 1), count - 1]
      for position in positions {
        var altered = samples
        altered[position] = bad[(position + count) % bad.count]
        var expected = [Bool](repeating: true, count: count)
        expected[position] = false
        try #require(try verifier.validities(altered) == expected, "\(position) of \(count)")
      }
    }
  }

  @Test func `batches find every bad signature of any mix`() throws {
    for count in 1...130 {
      for share in [0.1, 0.5, 0.9, 1] {
        let isBad = (0..<count).map { _ in Double.random(in: 0..<1) < share }
        let samples = isBad.enumerated().map { $1 ? bad[$0] : good[$0] }
        try #require(try verifier.validities(samples) == isBad.map { !$0 })
      }
    }
  }

  /// Otherwise one forged signature would send its whole batch to the ordinary call, which is several times slower.
  @Test func `a signature out of range does not keep the table from the rest of its batch`() throws {
    let table = try #require(FixedKeyTable(key.publicKey))
    for edge in FixedKeySample.edges {
      for range in [0..<32, 32..<64, 0..<64] {
        var samples = Array(good[..<3])
        let edges = [UInt8]((0..<range.count / 32).flatMap { _ in edge })
        samples[1].signature.replaceSubrange(range, with: edges)
        let signatures = samples.flatMap(\.signature)
        let digests = samples.flatMap(\.digest)
        var answers = [Bool](repeating: false, count: samples.count)
        let isComputed = unsafe answers.withUnsafeMutableBufferPointer {
          unsafe table.verify(signatures, digests, into: $0)
        }
        #expect(isComputed)
        #expect(answers == [true, false, true])
      }
    }
  }

  @Test func `inconsistent lengths are refused`() throws {
    let sample = good[0]
    let signature = sample.signature
    let digest = sample.digest
    #expect(try verifier.validities(signatures: [], digests: [], count: 0) == [])
    #expect(try verifier.validities(signatures: signature, digests: digest, count: -1) == [])
    #expect(try verifier.validities(signatures: signature, digests: digest, count: 1) == [true])
    #expect(
      try verifier.validities(signatures: signature, digests: digest, count: 2) == [false, false])
    let short = Array(signature.dropLast())
    #expect(try verifier.validities(signatures: short, digests: digest, count: 1) == [false])
    let long = signature + [0]
    #expect(try verifier.validities(signatures: long, digests: digest, count: 1) == [false])
    #expect(try !verifier.isValid(short, forDigest: digest))
    #expect(try !verifier.isValid(long, forDigest: digest))
    #expect(try !verifier.isValid([], forDigest: digest))
    for length in [0, 20, 31, 33, 64] {
      let other = [UInt8](repeating: 0, count: length)
      #expect(try !verifier.isValid(signature, forDigest: other))
      #expect(try verifier.validities(signatures: signature, digests: other, count: 1) == [false])
    }
  }

  @Test func `one verifier serves many tasks at once`() async throws {
    let verifier = self.verifier
    let samples = zip(good, bad).flatMap { [$0, $1] }
    let expected = zip(good, bad).flatMap { _ in [true, false] }
    let failures = try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<16 {
        group.addTask {
          var failures = 0
          for round in 0..<3 {
            let range = (task + round)..<(samples.count - 7 * round)
            if try verifier.validities(samples[range]) != Array(expected[range]) { failures += 1 }
            for index in range {
              if try verifier.isValid(samples[index]) != expected[index] { failures += 1 }
            }
          }
          return failures
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(failures == 0)
  }

  @Test func `if the table fails, the ordinary call is used`() throws {
    let failing = FixedKeyVerifier(failingFor: key.publicKey)
    let samples = zip(good, bad).flatMap { [$0, $1] }
    let expected = zip(good, bad).flatMap { _ in [true, false] }
    #expect(try failing.validities(samples) == expected)
    #expect(try samples.map { try failing.isValid($0) } == expected)
    #expect(failing.byteCount == 0)
  }
}
