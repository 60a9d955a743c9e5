// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto

/// The address of an OCSP responder or of a revocation list, or the lists that the caller has given.
enum RevocationPointer: Sendable, Hashable {
  case ocsp(RemoteURL)
  case list(RemoteURL)
  case givenLists
}

/// Asks OCSP responders and fetches revocation lists.
struct RevocationSource: Sendable {
  let caller: RemoteCaller
  let options: RevocationOptions
  /// Lists that are read in place of any request; `nil` to ask.
  var lists: [CertificateRevocationList]?

  /// The time in seconds since 1970; `Int64.min` if the clock is out of range.
  var now: Int64 { caller.time.now().wholeSecondsSince1970 ?? .min }

  /// Returns the address to ask about a certificate: the configured responder, else one that the certificate names,
  /// else the address of its revocation list. OCSP comes first because lists can be long. Plain `http` is allowed and
  /// usual: both answers are signed, and a responder behind TLS would need another responder for its own certificate.
  func pointer(of certificate: Certificate) -> RevocationPointer? {
    if lists != nil { return .givenLists }
    if let url = options.responderURL { return .ocsp(url) }
    for text in certificate.ocspURLs {
      if let url = try? RemoteURL(text, allowsPlainHTTP: true) { return .ocsp(url) }
    }
    for text in certificate.crlURLs {
      if let url = try? RemoteURL(text, allowsPlainHTTP: true) { return .list(url) }
    }
    return nil
  }

  func ask(
    _ question: RevocationQuestion, at pointer: RevocationPointer
  ) async -> Result<CertificateStatus, RevocationFailure> {
    do {
      switch pointer {
      case .ocsp(let url): return .success(try await askResponder(question, url))
      case .list(let url): return .success(try await fetchList(question, url))
      case .givenLists: return .success(try read(question))
      }
    } catch let failure as RevocationFailure {
      return .failure(failure)
    } catch let failure as RemoteCaller.Failure {
      return .failure(Self.failure(failure))
    } catch {
      return .failure(RevocationFailure(message: "\(error)", isRetryable: true))
    }
  }

  private func askResponder(_ question: RevocationQuestion, _ url: RemoteURL) async throws
    -> CertificateStatus
  {
    let made: OCSPRequest
    do throws(OCSPError) {
      made = try OCSPRequest(
        certificate: question.certificate, issuer: question.issuer, hash: options.identifierHash,
        nonce: options.sendsNonce ? Random.bytes(OCSPRequest.nonceByteCount) : nil)
    } catch {
      throw RevocationFailure(message: error.message, isRetryable: false)
    }
    let request = RemoteRequest(
      .post, url,
      headers: [
        HTTPHeader("Content-Type", "application/ocsp-request"),
        HTTPHeader("Accept", "application/ocsp-response"),
      ], body: made.der, maximumResponseByteCount: OCSPResponse.maximumByteCount)
    return try await send(request) { response in
      do throws(OCSPError) {
        return .done(
          try OCSPResponse(der: response.body).status(
            of: question.certificate, issuer: question.issuer, nonce: made.nonce,
            requiresNonce: options.requiresNonce, at: now))
      } catch {
        let failure = RevocationFailure(
          message: "\(url.host) answers what cannot be used: \(error)",
          // A badly signed response may have been injected on the network. It proves nothing, and the responder itself
          // may still answer.
          isRetryable: ![.unauthorized, .malformedRequest, .signatureRequired].contains(error.code))
        return error.isRetryable
          ? .retry(failure, notBefore: nil, isProcessed: false) : .failed(failure)
      }
    }
  }

  private func fetchList(_ question: RevocationQuestion, _ url: RemoteURL) async throws -> CertificateStatus {
    let request = RemoteRequest(
      .get, url, maximumResponseByteCount: CertificateRevocationList.maximumByteCount)
    return try await send(request) { response in
      do throws(RevocationListError) {
        return .done(
          try CertificateRevocationList(der: response.body).status(
            of: question.certificate, issuer: question.issuer, at: now))
      } catch {
        return .failed(
          RevocationFailure(
            message: "\(url.host) has a list that cannot be used: \(error)", isRetryable: true)
        )
      }
    }
  }

  /// Reads the status in the given lists. If several lists of the issuer can be used, the newest one counts: an older one
  /// may not know of a revocation.
  private func read(_ question: RevocationQuestion) throws(RevocationFailure) -> CertificateStatus {
    var newest: CertificateStatus?
    var failure: RevocationListError?
    for list in lists ?? [] {
      do throws(RevocationListError) {
        let status = try list.status(of: question.certificate, issuer: question.issuer, at: now)
        if status.thisUpdate >= newest?.thisUpdate ?? .min { newest = status }
      } catch {
        // A list of another issuer does not explain why this issuer's list is missing.
        if error.code != .otherIssuer || failure == nil { failure = error }
      }
    }
    if let newest { return newest }
    let reason =
      failure.map { $0.code == .otherIssuer ? "none is of its issuer" : "\($0)" } ?? "there is none"
    throw RevocationFailure(
      message: "There is no list of \"\(question.issuer.subject)\" that can be used: \(reason).",
      isRetryable: false)
  }

  private func send(
    _ request: RemoteRequest, read: (RemoteResponse) -> RemoteCaller.Outcome<CertificateStatus>
  ) async throws -> CertificateStatus {
    try await caller.send(isIdempotent: true, { request }) { response in
      guard response.status != 200 else { return read(response) }
      let failure = RevocationFailure(
        message: "\(request.url.host) answers HTTP \(response.status).", isRetryable: true)
      return .refused(response, failure, now: caller.time.now())
    }
  }

  private static func failure(_ failure: RemoteCaller.Failure) -> RevocationFailure {
    switch failure {
    case .transport(let error): RevocationFailure(message: "\(error)", isRetryable: error.isRetryable)
    case .deadlineExceeded: RevocationFailure(message: "There was no answer in time.", isRetryable: true)
    case .cancelled: .cancelled
    case .redirected(let status, _, let followed):
      RevocationFailure(
        message:
          "The responder sends us elsewhere (HTTP \(status))\(RemoteCaller.Failure.afterRedirects(followed)).",
        isRetryable: false)
    }
  }
}

extension RevocationFailure {
  static let shutDown = RevocationFailure(message: "The checker was shut down.", isRetryable: false)
  static let cancelled = RevocationFailure(message: "The task was cancelled.", isRetryable: true)
}

typealias RevocationOutcome = Result<KnownStatus, RevocationFailure>

extension RevocationOptions.Note: CustomStringConvertible {
  /// The subject and the message.
  public var description: String { "\(subject.rawValue): \(message)" }
}

/// Sends nothing, for a checker that asks nobody.
struct NoTransport: HTTPTransport {
  func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
    throw HTTPTransportError(.unusable, "This checker asks nobody.")
  }
}
