// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
package import ReceiptCrypto

/// Google's public keys for the tokens of push requests, by identifier. They are cached for as long as the response
/// allows. An unknown identifier causes another request, at most once a minute.
final class JSONWebKeys: Sendable {
  /// The reason why the keys could not be obtained.
  struct Failure: Error, Sendable {
    let message: String
  }

  private typealias Keys = [String: PublicKey]

  private static let maximumResponseByteCount = 1 << 17
  private static let maximumKeyCount = 64
  private static let maximumIdentifierByteCount = 256
  /// The lifetimes of cached keys, in seconds: the least, the greatest, and the default if the response states no
  /// lifetime.
  private static let lifetimes: (least: Double, greatest: Double, unstated: Double) = (60, 86_400, 300)
  /// The least time, in seconds, between two requests that unknown identifiers cause.
  static let refreshInterval: Double = 60

  private let shared: SharedFetch<Keys, Failure>
  private let time: RemoteTime

  init(_ url: RemoteURL, transport: any HTTPTransport, retry: RetryPolicy, time: RemoteTime) {
    self.time = time
    let caller = RemoteCaller(transport: transport, policy: retry, time: time)
    shared = SharedFetch(
      time: time, failureLifetime: .seconds(10), cancelled: Failure(message: "The task was cancelled.")
    ) {
      await Self.fetch(url, caller)
    }
  }

  /// Returns the key with an identifier; `nil` if Google has no such key.
  func key(_ identifier: String) async throws(Failure) -> PublicKey? {
    guard identifier.utf8.count <= Self.maximumIdentifierByteCount else { return nil }
    let held = try await shared.held()
    if let key = held.value[identifier] { return key }
    let oldest = time.now().addingSeconds(-Self.refreshInterval)
    return try await shared.held(obtainedAfter: oldest).value[identifier]
  }

  private static func fetch(_ url: RemoteURL, _ caller: RemoteCaller) async
    -> SharedFetch<Keys, Failure>.Outcome
  {
    let now = caller.time.now()
    let request = RemoteRequest(
      .get, url, headers: [HTTPHeader("Accept", "application/json"), UserAgent.header],
      maximumResponseByteCount: maximumResponseByteCount)
    do {
      let (keys, lifetime) = try await caller.send(isIdempotent: true, { request }) { response in
        classify(response, now: caller.time.now())
      }
      return .success(.init(keys, obtainedAt: now, usableUntil: now.addingSeconds(lifetime)))
    } catch let failure as Failure {
      return .failure(failure)
    } catch {
      return .failure(Failure(message: GooglePlayError.Cause(error).description))
    }
  }

  private static func classify(
    _ response: RemoteResponse, now: Timestamp
  ) -> RemoteCaller.Outcome<(Keys, lifetime: Double)> {
    guard response.status == 200 else {
      let failure = Failure(message: "The keys were answered with HTTP status \(response.status).")
      return .refused(response, failure, now: now)
    }
    do throws(MalformedReceipt) {
      let set = try JSONWebKeySet(json: response.body, part: "key set", limits: .standard)
      return .done((keys(in: set), lifetime(response)))
    } catch {
      return .failed(Failure(message: "The keys cannot be read: \(error)"))
    }
  }

  /// Returns the keys for RS256, and skips all others.
  private static func keys(in set: JSONWebKeySet) -> Keys {
    var keys: Keys = [:]
    for key in set.keys.prefix(maximumKeyCount) {
      guard let identifier = key.kid, identifier.utf8.count <= maximumIdentifierByteCount,
        let publicKey = key.publicKey
      else { continue }
      keys[identifier] = publicKey
    }
    return keys
  }

  /// Returns the remaining lifetime, in seconds, that `Cache-Control` and `Age` allow (RFC 9111 section 4.2).
  private static func lifetime(_ response: RemoteResponse) -> Double {
    let directives = (response.header("Cache-Control") ?? "").lowercased().split(separator: ",")
      .map { String($0).trimmingASCIISpace }
    guard !directives.contains("no-store"), !directives.contains("no-cache") else { return lifetimes.least }
    let stated = directives.lazy.compactMap { directive -> Double? in
      guard directive.hasPrefix("max-age=") else { return nil }
      return CivilDateTime.number(directive.dropFirst("max-age=".count).utf8.span).map(Double.init)
    }.first
    let age = response.header("Age").flatMap { CivilDateTime.number($0.utf8.span) } ?? 0
    let remaining = stated.map { $0 - Double(age) } ?? lifetimes.unstated
    return min(max(remaining, lifetimes.least), lifetimes.greatest)
  }
}

extension JSONWebKey {
  /// The public key, if it is RSA of 2048 to 8192 bits for RS256. `nil` also if a member forbids it to verify
  /// signatures (`use`, `key_ops`: RFC 7517 sections 4.2 and 4.3).
  package var publicKey: PublicKey? {
    guard keyType == "RSA", alg ?? "RS256" == "RS256", use ?? "sig" == "sig",
      operations?.contains("verify") ?? true,
      let modulus = try? Base64URL.decode(Array((modulus ?? "").utf8)),
      let exponent = try? Base64URL.decode(Array((exponent ?? "").utf8)),
      let key = try? PublicKey(rsaModulus: modulus, exponent: exponent),
      case .rsa(let bits) = key.kind, 2048...8192 ~= bits
    else { return nil }
    return key
  }
}

extension PublicKey {
  /// Creates an RSA key from its big-endian numbers (RFC 7518 section 6.3.1, RFC 8017 appendix A.1.1).
  fileprivate init?(rsaModulus: [UInt8], exponent: [UInt8]) throws(CryptoError) {
    guard let rsaEncryption = ObjectIdentifier(ObjectIdentifiers.rsaEncryption) else { return nil }
    func unsigned(_ number: [UInt8]) -> [UInt8] {
      let octets = Array(number.drop { $0 == 0 })
      return octets.first.map { $0 & 0x80 != 0 } ?? true ? [0] + octets : octets
    }
    let numbers = ASN1Writer.encoding { writer in
      writer.write(.sequence) { numbers in
        numbers.write(.integer, contents: unsigned(rsaModulus))
        numbers.write(.integer, contents: unsigned(exponent))
      }
    }
    let encoded = ASN1Writer.encoding { writer in
      writer.write(.sequence) { key in
        key.write(.sequence) { algorithm in
          algorithm.write(rsaEncryption)
          algorithm.writeNull()
        }
        key.write(.bitString, contents: [0] + numbers)
      }
    }
    try self.init(subjectPublicKeyInfo: encoded)
  }
}
