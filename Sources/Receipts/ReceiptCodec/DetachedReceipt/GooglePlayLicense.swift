// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension GooglePlayLicense.ResponseCode {
  /// Indicates whether the user has a licence.
  public var isLicensed: Bool { self == .licensed || self == .licensedOldKey }
}

extension GooglePlayLicense {
  /// Returns the response in the form that is signed.
  package func encoded() -> [UInt8] {
    let milliseconds = Int64(exactly: timestamp.millisecondsSince1970.rounded(.down)) ?? 0
    let text = [
      String(responseCode.rawValue), String(nonce), packageName, versionCode, userId, String(milliseconds),
    ].joined(separator: "|")
    return Array((text + (extras.map { ":\($0)" } ?? "")).utf8)
  }

  /// Decodes a response.
  ///
  /// - Throws: ``MalformedReceipt``. The codes are `tooLarge`; `invalidUTF8`; `missing` or `trailingData` if there are
  ///   not exactly six fields; `missing` if the package name is empty; and `invalidValue` if a numeric field is not a
  ///   number.
  package init(decoding bytes: [UInt8], limits: ReceiptLimits) throws(MalformedReceipt) {
    try limits.require(bytes.count, of: "licence response", at: .whole)
    if let offset = UTF8Text.firstInvalidByte(bytes.span) {
      throw MalformedReceipt(
        .invalidUTF8, at: .byteOffset(offset, within: "data"), "The licence response is not valid UTF-8.")
    }
    // Split bytes, because splitting a string has to find character boundaries.
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
    responseCode = ResponseCode(rawValue: try number(0, "responseCode"))
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

  /// Returns the value of a field of ``extras``, without decoding it; `nil` if there is no such field.
  package func extra(_ name: String) -> String? {
    for pair in (extras ?? "").split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if UTF8Text.isIdentical(String(parts[0]), name) { return parts.count > 1 ? String(parts[1]) : "" }
    }
    return nil
  }

  /// The date until which an app may rely on the response (`VT`); `nil` if the response does not contain it.
  public var validUntil: Timestamp? {
    extra("VT").flatMap { Int64($0) }.map { Timestamp(millisecondsSince1970: Double($0)) }
  }
}
