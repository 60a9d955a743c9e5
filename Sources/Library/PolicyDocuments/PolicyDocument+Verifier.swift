// SPDX-License-Identifier: Apache-2.0

internal import CommandOutput
internal import ReceiptBytes
package import ReceiptCodec
package import ReceiptCrypto
internal import ReceiptSigning
package import ReceiptVerification

extension PolicyDocument {
  /// The verifier that the document describes.
  ///
  /// - Parameter clock: The current time; the system's clock by default.
  /// - Returns: The verifier.
  /// - Throws: ``DocumentError`` with the JSON path of the member at fault.
  package func verifier(
    clock: @escaping @Sendable () -> Timestamp = { SystemClock.now() }
  ) throws(DocumentError) -> ReceiptVerifier {
    let (roots, issuers) = try trusted()
    var policy = VerificationPolicy(
      bundleIds: try bundleRule(), environments: try Self.values(environments, at: "$.environments"))
    policy.appAppleId = appAppleId
    policy.requiresCurrentPurchase = requireCurrent
    policy.acceptsClaimedEnvironment = acceptClaimedEnvironment
    policy.allowedClockSkew = try Self.seconds(allowedClockSkew, at: "$.allowedClockSkew")
    policy.maximumAge = try maximumAge.map { seconds throws(DocumentError) in
      try Self.seconds(seconds, at: "$.maximumAge")
    }
    if !kinds.isEmpty { policy.kinds = try Self.values(kinds, at: "$.kinds") }
    if !algorithms.isEmpty { policy.algorithms = try Self.values(algorithms, at: "$.algorithms") }
    if !markers.isEmpty { policy.markers = try acceptedMarkers() }
    policy.timeRule = try timeRule()
    if let deviceId {
      guard let device = DeviceIdentifier.bytes(deviceId) else {
        throw .invalid("$.deviceId", "The device is given by a UUID, or by pairs of hexadecimal digits.")
      }
      policy.deviceIdentifier = device
    }
    if admitXcode || !xcodeCertificates.isEmpty {
      policy.selfSignedTesting = .pinned(
        certificates: try Self.certificates(xcodeCertificates, at: "$.xcodeCertificates"))
    }
    for (store, keys, place) in [
      (PurchaseStore.googlePlay, playKeys, "$.playKeys"), (.huawei, huaweiKeys, "$.huaweiKeys"),
    ] {
      for (index, key) in keys.enumerated() {
        policy.appKeys.insert(try key.appKey(of: store, at: "\(place)[\(index)]"))
      }
    }
    policy.admitsShortKeys = admitShortKeys
    if let playEnvironments {
      policy.otherStores[.googlePlay] = try Self.values(playEnvironments, at: "$.playEnvironments")
    }
    if let huaweiEnvironments {
      policy.otherStores[.huawei] = try Self.values(huaweiEnvironments, at: "$.huaweiEnvironments")
    }
    policy.unstatedEnvironment = try .named(unstatedEnvironment, at: "$.unstatedEnvironment")
    guard let limit = Int(exactly: maximumByteCount), 1...(1 << 32) ~= limit else {
      throw .invalid("$.maximumByteCount", "The limit is 1 byte to 4 GiB.")
    }
    return ReceiptVerifier(
      trust: roots, policy: policy, intermediates: issuers, limits: ReceiptLimits(maximumByteCount: limit),
      clock: clock)
  }

  private func bundleRule() throws(DocumentError) -> VerificationPolicy.BundleRule {
    switch (bundleIds.isEmpty, anyBundleId) {
    case (false, false): return .oneOf(Set(bundleIds))
    case (true, true): return .any
    case (true, false):
      throw DocumentError(
        .usage,
        "Name the accepted bundle identifiers. A receipt of any app satisfies a policy without them; to want that, set "
          + "anyBundleId.", code: "missing", at: "$.bundleIds")
    case (false, true):
      throw .invalid("$.anyBundleId", "It accepts every app, and bundleIds only some: leave one out.")
    }
  }

  /// The roots and the intermediates of `trust` and `intermediates`.
  private func trusted() throws(DocumentError) -> (TrustAnchors, [Certificate]) {
    var anchors = trust.contains("apple") ? TrustAnchors.apple : TrustAnchors()
    var issuers = trust.contains("apple") ? TrustAnchors.appleIntermediates : []
    for (index, text) in trust.enumerated() where text != "apple" {
      let place = "$.trust[\(index)]"
      let certificates = try Self.certificates(in: text, at: place)
      let roots = certificates.filter(\.isSelfIssued)
      guard !roots.isEmpty else {
        throw .invalid(
          place, "There is no root (self-issued) certificate in it; others belong into intermediates.")
      }
      guard roots.allSatisfy(\.isCertificateAuthority) else {
        throw .invalid(
          place,
          "A self-signed certificate that is no authority can only be pinned for test data: xcodeCertificates."
        )
      }
      anchors = anchors.union(TrustAnchors(certificates: roots))
      issuers += certificates.filter { !$0.isSelfIssued }
    }
    return (anchors, issuers + (try Self.certificates(intermediates, at: "$.intermediates")))
  }

  private func acceptedMarkers() throws(DocumentError) -> Set<CertificateMarkers> {
    var accepted: Set<CertificateMarkers> = []
    for (index, pair) in markers.enumerated() {
      for (name, text) in [("leaf", pair.leaf), ("intermediate", pair.intermediate)] {
        let arcs = text.split(separator: ".", omittingEmptySubsequences: false)
        guard arcs.count > 1, arcs.allSatisfy({ UInt64($0) != nil }) else {
          throw .invalid(
            "$.markers[\(index)].\(name)",
            "It is no object identifier in dotted decimal, such as 1.3.6.1.4.1.99999.1.")
        }
      }
      accepted.insert(CertificateMarkers(leaf: pair.leaf, intermediate: pair.intermediate))
    }
    return accepted
  }

  private func timeRule() throws(DocumentError) -> TimeRule {
    switch time {
    case "signing": return .atSigning
    case "now": return .now
    default:
      do throws(MalformedReceipt) { return .at(try Timestamp(iso8601: time)) } catch {
        throw .invalid(
          "$.time",
          "It is \"signing\", \"now\" or an instant such as 2025-10-01T07:09:12Z: \(error.message)")
      }
    }
  }

  private static func seconds(_ seconds: Double, at place: String) throws(DocumentError) -> Double {
    guard seconds >= 0, seconds.isFinite else { throw .invalid(place, "It takes seconds, 0 or more.") }
    return seconds
  }

  private static func values<Value: RawRepresentable<String> & CaseIterable & Hashable>(
    _ texts: [String], at place: String
  ) throws(DocumentError) -> Set<Value> {
    var values: Set<Value> = []
    for (index, text) in texts.enumerated() {
      values.insert(try .named(text, at: "\(place)[\(index)]"))
    }
    return values
  }

  private static func certificates(
    _ texts: [String], at place: String
  ) throws(DocumentError) -> [Certificate] {
    var certificates: [Certificate] = []
    for (index, text) in texts.enumerated() {
      certificates += try Self.certificates(in: text, at: "\(place)[\(index)]")
    }
    return certificates
  }

  /// The certificates of a text in PEM, or the one in base64.
  package static func certificates(in text: String, at place: String) throws(DocumentError) -> [Certificate] {
    var file = Array(text.utf8)
    if !text.contains("-----BEGIN") {
      do throws(Base64Error) { file = try Base64.decode(file, allowingWhitespace: true) } catch {
        throw DocumentError(
          .unreadableInput, "It is no certificate in PEM, nor one in base64.", code: "malformed-certificate",
          at: place)
      }
    }
    do throws(CryptoError) { return try Certificate.certificates(in: file) } catch {
      throw DocumentError(error, at: place)
    }
  }
}

extension RawRepresentable<String> where Self: CaseIterable {
  /// The value with this name in a document.
  package static func named(_ text: String, at place: String) throws(DocumentError) -> Self {
    guard let value = Self(rawValue: text) else {
      throw .invalid(
        place,
        "\"\(ShownText.plain(text))\" is unknown. It must be one of: \(allCases.map(\.rawValue).joined(separator: ", "))."
      )
    }
    return value
  }
}

extension AppKeyDocument {
  fileprivate func appKey(of store: PurchaseStore, at place: String) throws(DocumentError) -> AppKey {
    do throws(CryptoError) {
      return AppKey(store, package: package, publicKey: try PublicKey(inFile: Array(key.utf8)))
    } catch {
      throw DocumentError(error, at: place + ".key")
    }
  }
}
