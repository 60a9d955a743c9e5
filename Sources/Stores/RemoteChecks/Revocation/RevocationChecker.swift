// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto
public import ReceiptVerification

/// Asks the issuers whether the certificates that signed a receipt were revoked: by OCSP (RFC 6960), or by a
/// revocation list (RFC 5280 section 5) where a certificate names only that.
///
/// ```swift
/// let revocation = RevocationChecker(transport: transport)
/// let verdict = await verifier.verify(receipt, checkers: [revocation])
/// ```
///
/// Leaf and intermediate of the receipt are asked about, and those of the signed parts of a notification. A
/// revoked certificate, or one that its issuer does not know, refuses the receipt; what a responder or a list
/// states counts only when it is signed by the issuer, or by a delegate that the issuer certified. Where none can
/// be reached the receipt is undetermined, unless ``RevocationOptions/unreachable`` says otherwise.
///
/// Answers are kept until there is a newer one, and renewed before that in the background; receipts of a
/// known signer then cost next to nothing. Keep one checker for the process, and ``shutdown()`` it at the end.
public final class RevocationChecker: RemoteChecker {
  /// `ocsp`.
  public let name = "ocsp"
  /// What it makes of the answers.
  package let options: RevocationOptions

  private let time: RemoteTime
  private let source: RevocationSource
  private let cache: StatusCache
  private let goodChains = GoodChains()

  /// Creates a checker.
  ///
  /// - Parameters:
  ///   - transport: Sends the requests. Responders are mostly reached by plain `http`, which it must allow.
  ///   - options: How to ask, and what to make of the answers.
  ///   - time: The clock.
  public init(
    transport: any HTTPTransport, options: RevocationOptions = RevocationOptions(),
    time: RemoteTime = .system
  ) {
    self.options = options
    self.time = time
    source = RevocationSource(
      caller: RemoteCaller(transport: transport, policy: options.retryPolicy, time: time), options: options)
    cache = StatusCache(source: source, goodChains: goodChains)
  }

  /// Asks about the certificates of a receipt, unless it is known that they are good.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer {
    let now = time.now().millisecondsSince1970 / 1000
    if goodChains.contains(receipt, at: now) { return .response(CheckerResponse(.confirmed)) }
    return await ask(about: receipt)
  }

  /// Ends all requests that are under way and begins no more: checks that still wait, or begin from now on, fail.
  public func shutdown() async { await cache.shutdown() }

  /// How many requests are under way.
  package var requestCount: Int { cache.flightCount }

  /// How many answers are kept.
  package var cachedCount: Int { cache.count }

  // MARK: - Requests

  /// Everything is asked at once, and then waited for.
  private func ask(about receipt: VerifiedReceipt) async -> CheckerAnswer {
    let parts = [receipt] + receipt.nested
    var asked: [RevocationQuestion: StatusCache.Found?] = [:]
    for part in parts {
      for question in Self.questions(of: part) where asked[question] == nil {
        asked.updateValue(find(question), forKey: question)
      }
    }
    var findings: [RevocationQuestion: Finding] = [:]
    for (question, found) in asked { findings[question] = await finding(found, about: question) }
    return evaluate(parts, findings)
  }

  /// Each certificate with the next, its issuer. A root has none.
  private static func questions(of receipt: VerifiedReceipt) -> [RevocationQuestion] {
    let certificates = receipt.signer.certificates
    return zip(certificates, certificates.dropFirst()).map(RevocationQuestion.init)
  }

  /// The outcome for one certificate.
  private enum Finding {
    case known(KnownStatus)
    case failed(RevocationFailure)
    case expired
    case noPointer
  }

  private func find(_ question: RevocationQuestion) -> StatusCache.Found? {
    if options.expired == .accept, isExpired(question.certificate) { return nil }
    return source.pointer(of: question.certificate).map { cache.find(question, at: $0) }
  }

  private func finding(_ found: StatusCache.Found?, about question: RevocationQuestion) async -> Finding {
    switch found {
    case .known(let status): return .known(status)
    case .failed(let failure): return .failed(failure)
    case .underWay(let flight):
      switch await flight.outcome {
      case .success(let status): return .known(status)
      case .failure(let failure): return .failed(failure)
      }
    case nil:
      return options.expired == .accept && isExpired(question.certificate) ? .expired : .noPointer
    }
  }

  private func isExpired(_ certificate: Certificate) -> Bool {
    certificate.notAfter < source.now
  }

  // MARK: - Evaluation

  /// A refusal counts more than a failure, and a failure that asking again may mend more than another.
  private func evaluate(
    _ parts: [VerifiedReceipt], _ findings: [RevocationQuestion: Finding]
  ) -> CheckerAnswer {
    let now = time.now().millisecondsSince1970 / 1000
    var failure: RevocationFailure?
    var notes: [String] = []
    for part in parts {
      // A chain without responders is checked again in an hour.
      var goodUntil = now + 3600
      for (depth, question) in Self.questions(of: part).enumerated() {
        guard let finding = findings[question] else { continue }
        let name =
          "The \(depth == 0 ? "leaf" : "intermediate") certificate \"\(question.certificate.subject)\" "
          + "(serial \(question.certificate.serialNumberHex))"
        switch evaluate(finding, question, name, signedAt: part.signedAt) {
        case .good(let freshUntil, let note):
          goodUntil = min(goodUntil, freshUntil)
          if let note, !notes.contains(note) { notes.append(note) }
        case .refused(let message): return .response(CheckerResponse(.refused(message: message)))
        case .failed(let found):
          goodUntil = now
          if failure == nil || found.isRetryable && failure?.isRetryable == false { failure = found }
        }
      }
      if goodUntil > now { goodChains.insert(part.signer.certificates, until: goodUntil) }
    }
    guard let failure else {
      let note = notes.isEmpty ? nil : notes.joined(separator: " ")
      return .response(CheckerResponse(.confirmed, note: note))
    }
    return failure.isRetryable
      ? .retryableFailure(message: failure.message) : .terminalFailure(message: failure.message)
  }

  private enum Evaluation {
    /// Until when, in seconds since 1970, it need not be checked again.
    case good(freshUntil: Double, note: String?)
    case refused(String)
    case failed(RevocationFailure)
  }

  private func evaluate(
    _ finding: Finding, _ question: RevocationQuestion, _ name: String, signedAt: Timestamp?
  ) -> Evaluation {
    func pass(_ subject: RevocationOptions.Note.Subject, _ message: String, until: Double) -> Evaluation {
      options.report?(
        RevocationOptions.Note(subject: subject, certificate: question.certificate, message: message))
      // A missing pointer is normal; the rest is noted in the verdict.
      return .good(freshUntil: until, note: subject == .noPointer ? nil : message)
    }
    switch finding {
    case .noPointer:
      guard options.noPointer == .accept else {
        return .refused("\(name) says neither where its issuer answers nor where it publishes a list.")
      }
      return pass(.noPointer, "\(name) names no responder and no list.", until: .infinity)
    case .expired:
      return pass(.expired, "\(name) has expired and was not asked about.", until: .infinity)
    case .failed(let failure):
      let message = "\(name) could not be checked: \(failure.message)"
      guard options.unreachable == .softFailure, failure != .cancelled else {
        return .failed(RevocationFailure(message: message, isRetryable: failure.isRetryable))
      }
      return pass(.softFailure, message, until: 0)
    case .known(let known):
      switch known.status.standing {
      case .good: return .good(freshUntil: known.freshUntil ?? 0, note: nil)
      case .unknown:
        guard isExpired(question.certificate) else {
          return .refused("\(name) is not known to its issuer's responder.")
        }
        return .failed(
          RevocationFailure(
            message: "\(name) has expired, and its issuer's responder no longer knows it.",
            isRetryable: false))
      case .revoked(let instant, let reason):
        let revokedAt = Timestamp(secondsSince1970: instant)
        let message =
          "\(name) was revoked at \(revokedAt.iso8601Seconds) (\(reason ?? .unspecified))."
        guard options.revoked == .acceptSignedBeforeBenignRevocation, let reason, reason.isBenign,
          let signedAt, signedAt < revokedAt
        else { return .refused(message) }
        return pass(.revokedLater, message + " The receipt was signed before.", until: 0)
      }
    }
  }
}
