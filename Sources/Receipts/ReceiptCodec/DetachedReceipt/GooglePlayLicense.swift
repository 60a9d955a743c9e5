// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A response of Google Play's licensing (LVL), signed with the app's key:
///
///     responseCode|nonce|packageName|versionCode|userId|timestamp[:extras]
///
/// That it is genuine does not say that the user has a licence: see ``responseCode``.
public struct GooglePlayLicense: Sendable, Hashable {
  /// Indicates whether the user has a licence (com.google.android.vending.licensing.LicenseValidator).
  public enum ResponseCode: Sendable, Hashable {
    /// 0: has a licence.
    case licensed
    /// 1: has none.
    case notLicensed
    /// 2: has one, signed with an older key of the app.
    case licensedOldKey
    /// 3: the app is not managed by Google Play.
    case notMarketManaged
    /// 4: the server failed; nothing follows for the licence.
    case serverFailure
    /// 5: too many requests; nothing follows for the licence.
    case overQuota
    /// Any other.
    case unknown(Int64)

    /// Indicates whether the user has a licence.
    public var isLicensed: Bool { self == .licensed || self == .licensedOldKey }

    private static let known: [ResponseCode] = [
      .licensed, .notLicensed, .licensedOldKey, .notMarketManaged, .serverFailure, .overQuota,
    ]

    /// The number on the wire.
    public var number: Int64 {
      if case .unknown(let number) = self { return number }
      return Int64(Self.known.firstIndex(of: self) ?? 0)
    }

    /// The code that a number on the wire stands for.
    package init(_ number: Int64) {
      self =
        Int(exactly: number).flatMap { Self.known.indices.contains($0) ? Self.known[$0] : nil }
        ?? .unknown(number)
    }
  }

  /// Indicates whether the user has a licence.
  public let responseCode: ResponseCode
  /// The app's own number of the request. Compare it with the one that was sent.
  public let nonce: Int64
  /// The app, by its package name.
  public let packageName: String
  /// The app's version, in digits.
  public let versionCode: String
  /// The user, as Google Play obfuscates them for the app.
  public let userId: String
  /// When the response was made.
  public let timestamp: Timestamp
  /// What follows the colon, a query string (`VT` until when it is valid, `GT` and `GR` for retries, expansion files);
  /// `nil` without a colon.
  public let extras: String?

  /// Creates a response, to be signed. No text may contain `|`, and none but the extras `:`.
  package init(
    responseCode: ResponseCode, nonce: Int64, packageName: String, versionCode: String, userId: String,
    timestamp: Timestamp, extras: String?
  ) {
    self.responseCode = responseCode
    self.nonce = nonce
    self.packageName = packageName
    self.versionCode = versionCode
    self.userId = userId
    self.timestamp = timestamp
    self.extras = extras
  }

  /// The response as it is signed.
  package func encoded() -> [UInt8] {
    let milliseconds = Int64(exactly: timestamp.millisecondsSince1970.rounded(.down)) ?? 0
    let text = [
      String(responseCode.number), String(nonce), packageName, versionCode, userId, String(milliseconds),
    ].joined(separator: "|")
    return Array((text + (extras.map { ":\($0)" } ?? "")).utf8)
  }

  /// Decodes a response.
  ///
  /// - Throws: ``MalformedReceipt``: `tooLarge`, `invalidUTF8`, `missing` or `trailingData` for another number of fields than six,
  ///   `invalidValue` for one that is no number.
  package init(decoding bytes: [UInt8], limits: ReceiptLimits) throws(MalformedReceipt) {
    guard bytes.count <= limits.maximumByteCount else {
      throw MalformedReceipt(
        .tooLarge, at: .whole,
        "The licence response is longer than the limit of \(limits.maximumByteCount) bytes.")
    }
    if let offset = UTF8Text.firstInvalidByte(bytes.span) {
      throw MalformedReceipt(
        .invalidUTF8, at: .byteOffset(offset, within: "data"), "The licence response is not valid UTF-8.")
    }
    // By bytes: splitting a string looks for the bounds of its characters.
    let parts = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    let separatorCount = parts[0].reduce(0) { $0 + ($1 == UInt8(ascii: "|") ? 1 : 0) }
    guard separatorCount == 5 else {
      throw MalformedReceipt(
        separatorCount < 5 ? .missing : .trailingData, at: .byteOffset(0, within: "data"),
        "A licence response has six fields between \"|\": responseCode, nonce, packageName, versionCode, userId and "
          + "timestamp; this has \(separatorCount + 1).")
    }
    let fields = parts[0].split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    func number(_ index: Int, _ name: String) throws(MalformedReceipt) -> Int64 {
      guard let number = Int64(fields[index]), String(number) == fields[index] else {
        throw MalformedReceipt(
          .invalidValue,
          at: .byteOffset(fields[..<index].reduce(index) { $0 + $1.utf8.count }, within: "data"),
          "The field \(name) of the licence response is no whole number.")
      }
      return number
    }
    responseCode = ResponseCode(try number(0, "responseCode"))
    nonce = try number(1, "nonce")
    packageName = fields[2]
    versionCode = fields[3]
    userId = fields[4]
    timestamp = Timestamp(millisecondsSince1970: Double(try number(5, "timestamp")))
    extras = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : nil
    guard !packageName.isEmpty else {
      throw MalformedReceipt(
        .missing, at: .byteOffset(0, within: "data"), "The licence response names no package.")
    }
  }

  /// The value of a field of ``extras``, as it stands there; `nil` without one.
  public func extra(_ name: String) -> String? {
    for pair in (extras ?? "").split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if UTF8Text.isIdentical(String(parts[0]), name) { return parts.count > 1 ? String(parts[1]) : "" }
    }
    return nil
  }

  /// Until when an app may rely on the response without asking again (`VT`); `nil` where it does not say.
  public var validUntil: Timestamp? {
    extra("VT").flatMap { Int64($0) }.map { Timestamp(millisecondsSince1970: Double($0)) }
  }
}
