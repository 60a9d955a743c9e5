// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptCrypto
public import ReceiptVerification

extension RecordingOptions {
  /// The maximum length of a kept receipt: a trail accepts no longer one.
  static let maximumReceiptByteCount = 15 << 20
  static let maximumIdentifierByteCount = 512

  /// Returns the only spelling in which a customer is recorded and looked up: a UUID in lower case, as the App Store
  /// writes it; any other text unchanged.
  package static func canonicalCustomer(_ text: String) -> String { UUIDString.canonical(text) }
}

extension [AuditRecord] {
  /// Creates the records to append for a verdict: the verdict's own record and, for an app receipt with several lines
  /// of purchases, one record for each line after it.
  ///
  /// They belong together: append them as one group.
  ///
  /// The statements of a receipt are recorded only if its signature was found valid: for a valid verdict, for one that
  /// a checker refused, and for one that waits for a checker or for proof of the environment. Such a receipt is named
  /// by its identity, however it is spelled. Of every other receipt, the record has the digest, the reason and, unless
  /// it is too long, the receipt itself in the erasable part. An identifier of more than 512 bytes is left out, so that
  /// every verdict can be recorded.
  ///
  /// - Parameters:
  ///   - verdict: The verdict.
  ///   - receipt: The bytes that were verified.
  ///   - policy: The policy that they were verified under; its digest is recorded.
  ///   - time: The time of the verdict.
  ///   - options: The options for data that is kept in addition.
  public init(
    _ verdict: Verdict, receipt: [UInt8], policy: VerificationPolicy, at time: Timestamp,
    options: RecordingOptions = RecordingOptions()
  ) {
    self.init(verdict, receipt: receipt, policyDigest: SHA256Digest(of: policy), at: time, options: options)
  }

  /// Creates the records with the policy's digest, which then need not be computed for every receipt.
  public init(
    _ verdict: Verdict, receipt bytes: [UInt8], policyDigest: SHA256Digest, at time: Timestamp,
    options: RecordingOptions = RecordingOptions()
  ) {
    let receipt = verdict.signatureVerified
    let unwrapped = receipt?.encoded ?? (try? UnverifiedReceipt(parsing: bytes))?.encoded ?? bytes
    let encoding = SHA256Digest(of: unwrapped)
    var facts = EntryFacts(
      time: Swift.max(0, time.wholeMilliseconds ?? 0), kind: .verdict,
      receipt: receipt.map(SHA256Digest.init(identityOf:)) ?? encoding, encoding: encoding,
      policy: policyDigest)
    facts.verdict = RecordedVerdict(rawValue: verdict.word)
    facts.reason = verdict.reason?.code.rawValue
    facts.checks = RecordedCheck.list(verdict.checks)
    facts.note(receipt)

    var customer = options.customer.map(RecordingOptions.canonicalCustomer)
    if customer == nil, let token = receipt?.appAccountToken.recordable {
      customer = RecordingOptions.canonicalCustomer(token)
    }
    let longest =
      receipt == nil ? options.maximumUnverifiedByteCount : RecordingOptions.maximumReceiptByteCount
    let isKept = options.keepsReceipt && unwrapped.count <= longest

    let lines = receipt?.purchaseLines ?? []
    if let only = lines.first, lines.count == 1 {
      facts.note(only)
      facts.revoked = facts.revoked ?? verdict.revocation
    }
    self = [AuditRecord(facts, receiptBytes: isKept ? unwrapped : nil, customerToken: customer)]
    guard lines.count > 1 else { return }
    for line in lines where line.isNamed {
      var purchase = EntryFacts(
        time: facts.time, kind: .purchase, format: facts.format, receipt: facts.receipt, bundle: facts.bundle,
        environment: facts.environment, verdict: facts.verdict, reason: facts.reason, policy: policyDigest)
      purchase.note(line)
      append(AuditRecord(purchase, customerToken: customer))
    }
  }
}

extension [AuditRecord] {
  /// Creates the records of a store's answer about a purchase that was named by a reference.
  ///
  /// There is no receipt: the entry names the SHA-256 of the reference in its place, and no signer.
  package init(
    _ answer: StoreAnswer, about reference: String, policyDigest: SHA256Digest, at time: Timestamp,
    options: RecordingOptions
  ) {
    let digest = SHA256Digest(of: [UInt8]("\(answer.store)\n\(reference)".utf8))
    var facts = EntryFacts(
      time: Swift.max(0, time.wholeMilliseconds ?? 0), kind: .verdict, receipt: digest, encoding: digest,
      policy: policyDigest)
    facts.format = answer.kind.rawValue
    facts.bundle = answer.bundleId.recordable
    facts.environment = (answer.environment?.rawValue).recordable
    facts.verdict = RecordedVerdict(rawValue: answer.word)
    facts.reason = answer.reason?.code.rawValue
    let said: RecordedCheck.Answer =
      answer.reason == nil
      ? .confirmed : answer.isRetryable ? .unavailable : answer.isUndetermined ? .failed : .refused
    facts.checks = [RecordedCheck(name: answer.store, answer: said)]
    let account = answer.purchases.lazy.compactMap(\.transaction.appAccountToken).first
    let customer = (options.customer ?? account.recordable).map(RecordingOptions.canonicalCustomer)
    if let only = answer.purchases.first, answer.purchases.count == 1 { facts.note(only.transaction) }
    self = [AuditRecord(facts, customerToken: customer)]
    guard answer.purchases.count > 1 else { return }
    for line in answer.purchases where line.transaction.isNamed {
      var purchase = EntryFacts(
        time: facts.time, kind: .purchase, format: facts.format, receipt: facts.receipt, bundle: facts.bundle,
        environment: facts.environment, verdict: facts.verdict, reason: facts.reason, policy: policyDigest)
      purchase.note(line.transaction)
      append(AuditRecord(purchase, customerToken: customer))
    }
  }
}

extension EntryFacts {
  fileprivate mutating func note(_ receipt: VerifiedReceipt?) {
    guard let receipt else { return }
    format = receipt.kind.rawValue
    if case .jws(.notification(let content)) = receipt.content {
      notification = (content.notificationType?.rawValue).recordable
      subtype = (content.subtype?.rawValue).recordable
    }
    bundle = receipt.bundleId.recordable
    // An environment that the signature does not cover is a claim, not a fact.
    environment = receipt.isEnvironmentProven ? (receipt.environment?.rawValue).recordable : nil
    signer = SHA256Digest(hexadecimal: receipt.signer.sha256)
    root = receipt.signer.rootSHA256.flatMap { SHA256Digest(hexadecimal: $0) }
  }

  fileprivate mutating func note(_ transaction: Transaction) {
    self.transaction = transaction.eventIdentifier.recordable
    original = transaction.lineIdentifier.recordable
    product = transaction.productId.recordable
    expires = transaction.expiresDate?.wholeMilliseconds
    revoked = transaction.revocationDate?.wholeMilliseconds
  }
}

extension SHA256Digest {
  /// Creates the digest by which entries name a receipt whose signature was found valid: `VerifiedReceipt.identity`.
  init(identityOf receipt: VerifiedReceipt) { self.init(of: receipt.signedContent.span) }
}

extension Verdict {
  /// The time when the purchase was revoked, according to a checker.
  fileprivate var revocation: Int64? {
    for check in checks {
      if case .response(let response) = check.answer, case .revoked(let instant?) = response.standing {
        return instant.wholeMilliseconds
      }
    }
    return nil
  }
}

extension Timestamp {
  /// The whole milliseconds; `nil` if an entry cannot hold the number.
  var wholeMilliseconds: Int64? { Int64(exactly: millisecondsSince1970.rounded(.down)) }

  /// The whole seconds; zero before 1970.
  var wholeSeconds: UInt64 { UInt64(max(0, (wholeMilliseconds ?? 0) / 1000)) }
}

extension String? {
  /// The text; `nil` if it is empty, or longer than any store's identifiers.
  ///
  /// Entries have no empty values, and no receipt may prevent its verdict from being recorded.
  fileprivate var recordable: String? {
    flatMap { 1...RecordingOptions.maximumIdentifierByteCount ~= $0.utf8.count ? $0 : nil }
  }
}

extension RecordedCheck {
  /// The maximum number of lines in an entry; the reports of further checkers in a composition are left out.
  package static let maximumCount = 16
  /// The maximum length of a checker's name, in bytes; a longer name is cut off.
  static let maximumNameByteCount = 128

  /// Returns a line for each report; that of a composition is followed by those of the checkers that it asked.
  package static func list(_ reports: [CheckerReport]) -> [RecordedCheck] {
    var list: [RecordedCheck] = []
    for report in reports { append(report, to: &list, depth: 0) }
    return list
  }

  private static func append(_ report: CheckerReport, to list: inout [RecordedCheck], depth: Int) {
    guard list.count < maximumCount, depth < maximumCount else { return }
    list.append(RecordedCheck(name: name(report.name), answer: Answer(report.answer)))
    for part in report.parts { append(part, to: &list, depth: depth + 1) }
  }

  private static func name(_ name: String) -> String {
    if 1...maximumNameByteCount ~= name.utf8.count { return name }
    if name.isEmpty { return "unnamed" }
    var cut = String.UnicodeScalarView()
    var count = 0
    for scalar in name.unicodeScalars {
      count += UTF8.width(scalar)
      guard count <= maximumNameByteCount else { break }
      cut.append(scalar)
    }
    return String(cut)
  }
}

extension RecordedCheck.Answer {
  fileprivate init(_ answer: CheckerAnswer) {
    switch answer {
    case .terminalFailure: self = .failed
    case .retryableFailure: self = .unavailable
    case .response(let response):
      switch response.standing {
      case .confirmed: self = .confirmed
      case .revoked: self = .revoked
      case .refused: self = .refused
      case .unknown: self = .unknown
      }
    }
  }
}
