// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification
import Testing

/// Every receipt of the manifest, under Apple's roots and the default time rule: most of their chains have
/// expired since.
@Suite(.enabled(if: GenuineReceipts.isPresent, GenuineReceipts.absence)) struct GenuineReceiptTests {
  typealias Entry = GenuineReceipts.Entry

  @Test("a genuine receipt is valid, and says what the manifest says", arguments: GenuineReceipts.accepted)
  func accepted(entry: Entry) throws {
    let verdict = GenuineReceipts.verifier().verify(try entry.bytes())
    guard let receipt = expectValid(verdict) else { return }
    compare(receipt, with: entry.expected)
    #expect(receipt.signer.sha256 == entry.leaf?.sha256)
    #expect(receipt.signer.rootSHA256 == entry.expected.chain?.last?.sha256)
    #expect(receipt.assurance == .trustedRoot)
  }

  private func compare(_ receipt: VerifiedReceipt, with expected: GenuineReceipts.Expected) {
    switch receipt.kind {
    case .transactionReceipt:
      #expect(!receipt.isEnvironmentProven)
      #expect(receipt.environment?.rawValue == expected.environment_outer_unsigned ?? "Production")
      #expect(
        receipt.signer.algorithm == (expected.signature_version == 4 ? .rsaSHA256 : .rsaSHA1))
    case .appReceipt:
      #expect(receipt.environment?.rawValue == expected.environment)
      #expect(receipt.isEnvironmentProven)
      #expect(receipt.signer.algorithm == (expected.digest == "sha256" ? .rsaSHA256 : .rsaSHA1))
    default:
      #expect(receipt.environment?.rawValue == expected.environment)
      #expect(receipt.isEnvironmentProven)
      #expect(receipt.signer.algorithm == .es256)
      #expect(!receipt.signer.involvesSHA1)
      #expect(receipt.kind.rawValue == "signed-\(expected.type ?? "")")
    }
    if receipt.signer.algorithm == .rsaSHA1 { #expect(receipt.signer.involvesSHA1) }
    #expect(receipt.bundleId == expected.bundle_id)
    if let appAppleId = expected.app_apple_id { #expect(receipt.appAppleId == appAppleId) }

    let signedAt =
      expected.signed_date ?? expected.receipt_creation_date ?? expected.purchase_date_ms
      ?? expected.nested?.values.compactMap(\.signed_date).max()
      ?? expected.purchase_dates?.first
    #expect(receipt.signedAt?.iso8601 == signedAt?.withMilliseconds)

    #expect(Set(receipt.nested.map(nestedName)) == Set((expected.nested ?? [:]).keys))
    for part in receipt.nested {
      if let expected = expected.nested?[nestedName(part)] { compare(part, with: expected) }
    }
    guard receipt.kind != .signedRenewalInfo else { return }
    let transactions = receipt.transactions
    #expect(transactions.compactMap(\.productId) == expected.product_ids)
    #expect(transactions.compactMap(\.transactionId) == expected.transaction_ids)
    if let originals = expected.original_transaction_ids {
      #expect(transactions.map(\.originalTransactionId) == originals)
    }
    if let dates = expected.purchase_dates, receipt.kind != .transactionReceipt {
      #expect(transactions.map { $0.purchaseDate?.iso8601 } == dates.map(\.withMilliseconds))
    }
  }

  private func nestedName(_ receipt: VerifiedReceipt) -> String {
    switch receipt.kind {
    case .signedTransaction: "signedTransactionInfo"
    case .signedRenewalInfo: "signedRenewalInfo"
    default: receipt.kind.rawValue
    }
  }

  @Test("what is not genuine is refused, with the reason and place", arguments: GenuineReceipts.refused)
  func refused(entry: Entry) throws {
    let everywhere = Set(ReceiptEnvironment.Category.allCases)
    let verdict = GenuineReceipts.verifier(everywhere).verify(try entry.bytes())
    let expected: (code: ReasonCode, place: String)? =
      switch entry.file {
      case "jws/NEG-alexalok-renew-edited.jws": (.signatureMismatch, "JWS signature")
      case "jws/NEG-colopl-x5c-without-leaf.jws":
        // The intermediate in the place of the leaf: its key is on P-384.
        (.unsupportedAlgorithm, "certificate 0")
      case "jws/NEG-apple-mock-transaction.jws": (.chainUntrusted, "certificate 2")
      case "jws/NEG-apple-missing-x5c.jws": (.chainLength, "$.x5c of the JWS header")
      case "jws/NEG-synthetic-fake-apple-transaction.jws": (.chainUntrusted, "certificate 2")
      case "app-receipt/NEG-synthetic-fake-root.der": (.chainUntrusted, "certificate 1")
      case "app-receipt/NEG-bitflip-mindnode-sha256.der": (.signatureMismatch, "signerInfo")
      case "transaction-receipt/NEG-placeholder-signature.plist": (.malformed, "key \"signature\"")
      case _ where entry.kind == "jws-xcode": (.chainLength, "$.x5c of the JWS header")
      case _ where entry.kind == "app-receipt-xcode": (.chainUntrusted, "certificate 0")
      default: nil
      }
    if let expected {
      expectInvalid(verdict, expected.code, at: expected.place)
    } else {
      #expect(verdict.reason?.code == .malformed, "\(verdict.summary)")
    }
  }

  @Test(
    "genuine receipts of the sandbox do not pass a policy for production", arguments: GenuineReceipts.accepted
  )
  func productionOnly(entry: Entry) throws {
    let verdict = GenuineReceipts.verifier([.production]).verify(try entry.bytes())
    switch (entry.kind, entry.expected.environment) {
    case ("app-receipt", "Production"): expectValid(verdict)
    case ("jws", _) where entry.expected.nested?.isEmpty == false:
      // A notification's parts are judged first.
      expectInvalid(verdict, .wrongEnvironment, at: "$.data.signedTransactionInfo")
    case ("jws", _), ("app-receipt", _): expectInvalid(verdict, .wrongEnvironment)
    default: expectUndetermined(verdict, .environmentUnproven, at: "key \"environment\"")
    }
  }

  @Test(
    "genuine receipts of production do not pass a policy for the sandbox", arguments: GenuineReceipts.accepted
  )
  func sandboxOnly(entry: Entry) throws {
    let verdict = GenuineReceipts.verifier([.sandbox]).verify(try entry.bytes())
    let environment = ReceiptEnvironment(rawValue: entry.expected.environment ?? "")
    if environment.category == .sandbox {
      expectValid(verdict)
    } else {
      expectInvalid(verdict, .wrongEnvironment)
    }
  }

  @Test(
    "genuine receipts whose chain has expired are not valid at the current time",
    arguments: GenuineReceipts.accepted)
  func judgedNow(entry: Entry) throws {
    var policy = VerificationPolicy(bundleIds: .any, environments: [.production, .sandbox])
    policy.timeRule = .now
    // 2030: beyond every one of them.
    let verifier = ReceiptVerifier(
      trust: .apple, policy: policy, intermediates: GenuineReceipts.intermediates,
      clock: { Timestamp(secondsSince1970: 1_893_456_000) })
    let verdict = verifier.verify(try entry.bytes())
    #expect(verdict.reason?.code == .chainExpired, "\(verdict.summary)")
    #expect(verdict.reason?.place.contains("certificate 0") == true, "\(verdict.summary)")
  }

  @Test("a genuine receipt names no other app", arguments: GenuineReceipts.accepted)
  func otherApp(entry: Entry) throws {
    let verifier = GenuineReceipts.verifier { $0.bundleIds = .oneOf(["com.example.app"]) }
    let verdict = verifier.verify(try entry.bytes())
    if entry.expected.type == "renewal-info" {
      expectValid(verdict)
    } else {
      #expect(verdict.reason?.code == .wrongBundle, "\(verdict.summary)")
    }
  }

  @Test("no intermediate need be supplied but for transaction receipts", arguments: GenuineReceipts.accepted)
  func withoutIntermediates(entry: Entry) throws {
    let verdict = GenuineReceipts.verifier(intermediates: []).verify(try entry.bytes())
    if entry.kind.hasPrefix("transaction-receipt") {
      expectUndetermined(verdict, .issuerMissing, at: "certificate 0")
    } else {
      expectValid(verdict)
    }
  }

  @Test("SHA-1 can be refused", arguments: GenuineReceipts.accepted)
  func withoutSHA1(entry: Entry) throws {
    let verifier = GenuineReceipts.verifier { $0.algorithms = [.es256, .rsaSHA256] }
    let isSHA1 =
      entry.expected.digest == "sha1" || [2, 3].contains(entry.expected.signature_version)
    if isSHA1 {
      expectInvalid(verifier.verify(try entry.bytes()), .unsupportedAlgorithm)
    } else {
      expectValid(verifier.verify(try entry.bytes()))
    }
  }

  @Test("one verifier gives the same verdicts twice")
  func warm() throws {
    let verifier = GenuineReceipts.verifier()
    let receipts = try GenuineReceipts.entries.map { try $0.bytes() }
    let cold = receipts.map { verifier.verify($0) }
    let warm = receipts.map { verifier.verify($0) }
    #expect(cold == warm)
    #expect(cold.filter(\.isValid).count == GenuineReceipts.accepted.count)
  }
}
