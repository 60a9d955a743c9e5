// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// Attack 6: the instant at which certificates must be valid, and receipts from the future.
@Suite struct TimeRuleTests {
  /// A window around the sample's signing time, inclusive at both ends.
  private static let begin: Int64 = 1_759_302_000
  private static let end: Int64 = 1_759_303_000

  private static func milliseconds(_ seconds: Int64, _ offset: Double = 0) -> Timestamp {
    Timestamp(millisecondsSince1970: Double(seconds) * 1000 + offset)
  }

  /// The first and last instants of the window and those just outside, and whether they are inside. The last
  /// second counts as a whole (RFC 5280 section 4.1.2.5 knows no fractions).
  private static let instants: [(Timestamp, Bool)] = [
    (milliseconds(begin, -1000), false), (milliseconds(begin, -1), false),
    (milliseconds(begin, -0.5), false), (milliseconds(begin), true), (milliseconds(begin, 0.5), true),
    (milliseconds(begin, 1), true), (milliseconds(begin, 1000), true), (milliseconds(end, -1000), true),
    (milliseconds(end, -1), true), (milliseconds(end), true), (milliseconds(end, 1), true),
    (milliseconds(end, 999), true), (milliseconds(end, 999.9), true), (milliseconds(end, 1000), false),
    (milliseconds(end, 1001), false), (milliseconds(end, 2000), false),
  ]

  private func receipt(
    _ container: Fixture.Container, signedAt: Timestamp?, by identity: SigningIdentity
  ) throws -> [UInt8] {
    switch container {
    case .jws:
      var transaction = SampleReceipts.transaction
      transaction.signedDate = signedAt
      let signer = JWSSigner(
        unchecked: identity, header: JWSHeader(x5c: identity.chain.map(\.der)).encoded())
      return Array(try signer.sign(.transaction(transaction)).utf8)
    case .appReceipt:
      var payload = SampleReceipts.appReceipt
      payload.receiptCreationDate = signedAt
      return try AppReceiptSigner(unchecked: identity).sign(payload)
    case .transactionReceipt:
      var purchaseInfo = SampleReceipts.purchaseInfo
      purchaseInfo.purchaseDate = signedAt
      return try TransactionReceiptSigner(identity: identity).sign(purchaseInfo, environment: .sandbox)
    }
  }

  @Test(
    "at signing, a receipt counts from notBefore to notAfter of its leaf",
    arguments: Fixture.Container.allCases)
  func atSigning(container: Fixture.Container) throws {
    let identity = try container.authority.identity(validFrom: Self.begin, to: Self.end)
    // Long after: history stays valid. One verifier for all: the window is judged for known signers too.
    let verifier = try Fixture.verifier(at: Timestamp(secondsSince1970: 2_000_000_000))
    for (instant, isValid) in Self.instants {
      // Dates of app receipts and transaction receipts have no fraction of a millisecond.
      if container != .jws, instant.millisecondsSince1970 != instant.millisecondsSince1970.rounded() {
        continue
      }
      let verdict = verifier.verify(try receipt(container, signedAt: instant, by: identity))
      if isValid {
        #expect(expectValid(verdict)?.signedAt == instant)
      } else {
        expectInvalid(verdict, .chainExpired, at: "certificate 0", "\(instant.iso8601)")
      }
    }
  }

  @Test("at a given instant or now, that instant decides", arguments: Fixture.Container.allCases)
  func givenInstant(container: Fixture.Container) throws {
    let identity = try container.authority.identity(validFrom: Self.begin, to: Self.end)
    let signedAt = Self.milliseconds(Self.begin, -10_000_000)
    let receipt = try receipt(container, signedAt: signedAt, by: identity)
    for (instant, isValid) in Self.instants {
      let given = try Fixture.verifier { $0.timeRule = .at(instant) }
      let now = try Fixture.verifier(at: instant) { $0.timeRule = .now }
      for verifier in [given, now] {
        let verdict = verifier.verify(receipt)
        if isValid {
          expectValid(verdict)
        } else {
          expectInvalid(verdict, .chainExpired, at: "certificate 0", "\(instant.iso8601)")
        }
      }
    }
  }

  @Test("a known signer is refused when it is out of its window", arguments: Fixture.Container.allCases)
  func knownSignerExpires(container: Fixture.Container) throws {
    let identity = try container.authority.identity(validFrom: Self.begin, to: Self.end)
    let clock = FixedClock(Self.milliseconds(Self.end))
    let verifier = ReceiptVerifier(
      trust: try container.authority.trustAnchors, policy: Fixture.policy { $0.timeRule = .now },
      intermediates: [try Fixture.rsa.intermediate], clock: clock.reading)
    let receipt = try receipt(container, signedAt: Self.milliseconds(Self.begin), by: identity)
    expectValid(verifier.verify(receipt))
    clock.advance(seconds: 1)
    expectInvalid(verifier.verify(receipt), .chainExpired, at: "certificate 0")
    clock.advance(seconds: -1)
    expectValid(verifier.verify(receipt))
  }

  @Test("an expired intermediate or root counts as well")
  func expiredIssuer() throws {
    let key = try PrivateKey.generateP256()
    func identity(intermediate: Int64, root: Int64) throws -> SigningIdentity {
      let options = try Fixture.es256.authority.options
      var template = options.rootTemplate
      template.notAfter = root
      let rootCertificate = try CertificateAuthority.issue(template, for: key.publicKey, by: .itself(key))
      template = options.intermediateTemplate
      template.notAfter = intermediate
      let issuer = try CertificateAuthority.issue(
        template, for: key.publicKey, by: .authority(rootCertificate, key))
      let leaf = try CertificateAuthority.issue(
        options.leafTemplate, for: key.publicKey, by: .authority(issuer, key))
      return try SigningIdentity(privateKey: key, chain: [leaf, issuer, rootCertificate])
    }
    let late: Int64 = 2_000_000_000
    for (intermediate, root, place) in [
      (Self.begin, late, "certificate 1"), (late, Self.begin, "certificate 2"), (late, late, nil),
    ] {
      let identity = try identity(intermediate: intermediate, root: root)
      let verifier = ReceiptVerifier(
        trust: TrustAnchors(certificates: [identity.chain[2]]), policy: Fixture.policy(),
        clock: FixedClock(Fixture.now).reading)
      let verdict = verifier.verify(try Fixture.Container.jws.signed(by: identity))
      if let place {
        expectInvalid(verdict, .chainExpired, at: place)
      } else {
        expectValid(verdict)
      }
    }
  }

  // MARK: Signing times

  @Test("without a signing time, at signing is undetermined", arguments: Fixture.Container.allCases)
  func missing(container: Fixture.Container) throws {
    let receipt = try receipt(container, signedAt: nil, by: try container.authority.identity)
    expectUndetermined(try Fixture.verifier().verify(receipt), .signingTimeMissing)
    expectValid(try Fixture.verifier { $0.timeRule = .now }.verify(receipt))
    expectValid(try Fixture.verifier { $0.timeRule = .at(Fixture.now) }.verify(receipt))
    // A greatest age needs it too, whatever the rule.
    expectUndetermined(
      try Fixture.verifier {
        $0.timeRule = .now
        $0.maximumAge = 60
      }.verify(receipt), .signingTimeMissing)
  }

  @Test("a receipt from the future is refused beyond the allowed skew", arguments: Fixture.Container.allCases)
  func future(container: Fixture.Container) throws {
    let identity = try container.authority.identity
    for (skew, offset, isValid) in [
      (60.0, 59_999.0, true), (60, 60_000, true), (60, 60_001, false), (60, 61_000, false), (0, 0, true),
      (0, 1, false), (0.5, 500, true), (0.5, 501, false), (-1, -999, false), (-1, -1000, true),
      (.infinity, 1e12, true), (.nan, -1e6, false), (-.infinity, -1e6, false),
    ] {
      let signedAt = Timestamp(millisecondsSince1970: Fixture.now.millisecondsSince1970 + offset)
      let receipt = try receipt(container, signedAt: signedAt, by: identity)
      for rule in [TimeRule.atSigning, .now, .at(Fixture.now)] {
        let verdict = try Fixture.verifier {
          $0.allowedClockSkew = skew
          $0.timeRule = rule
        }.verify(receipt)
        if !isValid {
          expectInvalid(verdict, .signedInFuture, "\(skew) \(offset) \(rule)")
        } else if offset < 1e9 {
          expectValid(verdict, "\(skew) \(offset) \(rule)")
        }
      }
    }
  }

  @Test("at an instant before signing, a receipt is refused")
  func beforeSigning() throws {
    let receipt = try Fixture.sample(.signedTransaction)
    let before = SampleReceipts.signedAt.addingSeconds(-61)
    expectInvalid(try Fixture.verifier { $0.timeRule = .at(before) }.verify(receipt), .signedInFuture)
    let within = SampleReceipts.signedAt.addingSeconds(-60)
    expectValid(try Fixture.verifier { $0.timeRule = .at(within) }.verify(receipt))
  }

  @Test("an instant that is no number accepts nothing")
  func notANumber() throws {
    let receipt = try Fixture.sample(.signedTransaction)
    for instant in [Double.nan, -.infinity] {
      let rule = TimeRule.at(Timestamp(millisecondsSince1970: instant))
      expectInvalid(try Fixture.verifier { $0.timeRule = rule }.verify(receipt), .signedInFuture)
    }
    let rule = TimeRule.at(Timestamp(millisecondsSince1970: .infinity))
    expectInvalid(
      try Fixture.verifier { $0.timeRule = rule }.verify(receipt), .chainExpired, at: "certificate 0")
  }

  // MARK: Age

  @Test("a receipt older than the greatest age is refused", arguments: Fixture.Container.allCases)
  func age(container: Fixture.Container) throws {
    let identity = try container.authority.identity
    for (age, offset, isValid) in [
      (60.0, -59_999.0, true), (60, -60_000, true), (60, -60_001, false), (60, -61_000, false), (0, 0, true),
      (0, -1, false), (.infinity, -1e9, true), (.nan, 0, false), (-1, 0, false),
    ] {
      let signedAt = Timestamp(millisecondsSince1970: Fixture.now.millisecondsSince1970 + offset)
      let receipt = try receipt(container, signedAt: signedAt, by: identity)
      for rule in [TimeRule.atSigning, .now, .at(Fixture.now)] {
        let verdict = try Fixture.verifier {
          $0.maximumAge = age
          $0.timeRule = rule
        }.verify(receipt)
        if isValid {
          expectValid(verdict, "\(age) \(offset) \(rule)")
        } else {
          expectInvalid(verdict, .tooOld, "\(age) \(offset) \(rule)")
        }
      }
    }
  }
}
