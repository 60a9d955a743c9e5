// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
public import ReceiptCrypto
public import ReceiptVerification

/// Checks that the certificates that signed a receipt were not revoked.
///
/// It asks by OCSP (RFC 6960), or fetches a revocation list (RFC 5280 section 5) if a certificate names only a list, or
/// reads lists that are given.
///
/// ```swift
/// let revocation = RevocationChecker(transport: transport)
/// let verdict = await verifier.verify(receipt, checkers: [revocation])
/// ```
///
/// It checks the leaf and the intermediate of the receipt, and those of a notification's signed parts. A certificate
/// that is revoked, or that its issuer does not know, refuses the receipt. A response or a list counts only if the
/// issuer signed it, or a delegate that the issuer certified. If no status can be obtained, the verdict is
/// undetermined, unless ``RevocationOptions/unreachable`` says otherwise.
///
/// Statuses are cached while they are valid, and renewed early in the background; receipts of a known signer then cost
/// nearly nothing. Use one checker for the whole process, and call ``shutdown()`` at its end.
public final class RevocationChecker: RemoteChecker {
  /// `ocsp`, or `crl` if lists were given.
  public let name: String
  package let options: RevocationOptions

  private let time: RemoteTime
  private let source: RevocationSource
  private let cache: StatusCache
  private let goodChains = GoodChains()

  /// Creates a checker.
  ///
  /// - Parameters:
  ///   - transport: Sends the requests. Most responders use plain `http`, which the transport must allow.
  ///   - options: The checker's options.
  ///   - time: The clock.
  public convenience init(
    transport: any HTTPTransport, options: RevocationOptions = RevocationOptions(),
    time: RemoteTime = .system
  ) {
    self.init("ocsp", transport: transport, options: options, time: time, lists: nil)
  }

  /// Creates a checker that reads revocation lists and asks nobody.
  ///
  /// Every issuer of a signer's certificates needs its list: the intermediate's for the leaf, and the root's for the
  /// intermediate. A certificate whose issuer has no list that is signed, current and complete makes the verdict
  /// undetermined.
  ///
  /// - Parameters:
  ///   - lists: The lists (RFC 5280 section 5), in DER or in PEM (`X509 CRL`). Create another checker to read new ones.
  ///   - options: The checker's options; those about requests have no effect.
  ///   - time: The clock.
  /// - Throws: `CryptoError` with `malformed-list` if one is not a list, or of a kind that is not
  ///   supported: an indirect or delta list, a list of some reasons, or one with an unknown critical extension.
  public convenience init(
    lists: [[UInt8]], options: RevocationOptions = RevocationOptions(), time: RemoteTime = .system
  ) throws(CryptoError) {
    var decoded: [CertificateRevocationList] = []
    for list in lists { decoded.append(try CertificateRevocationList(inFile: list)) }
    self.init("crl", transport: NoTransport(), options: options, time: time, lists: decoded)
  }

  private init(
    _ name: String, transport: any HTTPTransport, options: RevocationOptions, time: RemoteTime,
    lists: [CertificateRevocationList]?
  ) {
    self.name = name
    self.options = options
    self.time = time
    source = RevocationSource(
      caller: RemoteCaller(transport: transport, policy: options.retryPolicy, time: time), options: options,
      lists: lists)
    cache = StatusCache(source: source, goodChains: goodChains)
  }

  /// Checks the certificates of a receipt; those known to be good need no request.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer {
    let now = time.now().millisecondsSince1970 / 1000
    if goodChains.contains(receipt, at: now) { return .response(CheckerResponse(.confirmed)) }
    return await ask(about: receipt)
  }

  /// Cancels all requests and begins no more.
  ///
  /// Checks that still wait, and later ones, fail: ``RevocationOptions/unreachable`` does not apply to them.
  public func shutdown() async { await cache.shutdown() }

  package var requestCount: Int { cache.flightCount }

  package var cachedCount: Int { cache.count }

  // MARK: - Requests

  /// Begins all requests at the same time, then awaits them.
  private func ask(about receipt: VerifiedReceipt) async -> CheckerAnswer {
    let parts = [receipt] + receipt.nested
    var asked: [RevocationQuestion: FirstResult<RevocationOutcome>] = [:]
    for part in parts {
      for question in Self.questions(of: part) where asked[question] == nil {
        asked[question] = find(question)
      }
    }
    var outcomes: [RevocationQuestion: RevocationOutcome] = [:]
    for (question, first) in asked {
      outcomes[question] = await first.value(ifCancelled: .failure(.cancelled))
    }
    return evaluate(parts, outcomes)
  }

  /// Pairs each certificate of the chain with the next one, its issuer; the root has no issuer.
  private static func questions(of receipt: VerifiedReceipt) -> [RevocationQuestion] {
    let certificates = receipt.signer.certificates
    return zip(certificates, certificates.dropFirst()).map(RevocationQuestion.init)
  }

  /// Returns the outcome to await; `nil` for a certificate that is not asked about, because it has expired or names no
  /// address.
  private func find(_ question: RevocationQuestion) -> FirstResult<RevocationOutcome>? {
    if options.expired == .accept, isExpired(question.certificate) { return nil }
    return source.pointer(of: question.certificate).map { cache.find(question, at: $0) }
  }

  private func isExpired(_ certificate: Certificate) -> Bool {
    certificate.notAfter < source.now
  }

  // MARK: - Evaluation

  /// Combines the outcomes: a refusal wins over a failure, and a retryable failure over a terminal one.
  private func evaluate(
    _ parts: [VerifiedReceipt], _ outcomes: [RevocationQuestion: RevocationOutcome]
  ) -> CheckerAnswer {
    let now = time.now().millisecondsSince1970 / 1000
    var failure: RevocationFailure?
    var notes: [String] = []
    for part in parts {
      // A chain without responders is checked again in an hour.
      var goodUntil = now + 3600
      for (depth, question) in Self.questions(of: part).enumerated() {
        let name =
          "The \(depth == 0 ? "leaf" : "intermediate") certificate \"\(question.certificate.subject)\" "
          + "(serial \(question.certificate.serialNumberHex))"
        switch evaluate(outcomes[question], question, name, signedAt: part.signedAt) {
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
    return .failure(failure.message, isRetryable: failure.isRetryable)
  }

  private enum Evaluation {
    /// `freshUntil` is the time, in seconds since 1970, until which the certificate need not be checked again.
    case good(freshUntil: Double, note: String?)
    case refused(String)
    case failed(RevocationFailure)
  }

  private func evaluate(
    _ outcome: RevocationOutcome?, _ question: RevocationQuestion, _ name: String, signedAt: Timestamp?
  ) -> Evaluation {
    func pass(_ subject: RevocationOptions.Note.Subject, _ message: String, until: Double) -> Evaluation {
      options.report?(
        RevocationOptions.Note(subject: subject, certificate: question.certificate, message: message))
      // A certificate that names no responder is normal; the verdict notes everything else.
      return .good(freshUntil: until, note: subject == .noPointer ? nil : message)
    }
    switch outcome {
    case nil where options.expired == .accept && isExpired(question.certificate):
      return pass(.expired, "\(name) has expired and was not asked about.", until: .infinity)
    case nil:
      guard options.noPointer == .accept else {
        return .refused("\(name) says neither where its issuer answers nor where it publishes a list.")
      }
      return pass(.noPointer, "\(name) names no responder and no list.", until: .infinity)
    case .failure(let failure):
      let message = "\(name) could not be checked: \(failure.message)"
      guard options.unreachable == .softFailure, failure != .cancelled, failure != .shutDown else {
        return .failed(RevocationFailure(message: message, isRetryable: failure.isRetryable))
      }
      return pass(.softFailure, message, until: 0)
    case .success(let known):
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
