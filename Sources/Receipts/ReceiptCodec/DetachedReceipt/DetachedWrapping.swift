// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Data and signature inside JSON, under the names that stores, their libraries and frameworks use.
///
/// | Members | Used by |
/// |---|---|
/// | `data`, `signature` | this package, the only form that it writes |
/// | `json`, `signature` | Unity, inside `Payload` |
/// | `receipt`, `signature` | Cordova, also inside `transaction` |
/// | `INAPP_PURCHASE_DATA`, `INAPP_DATA_SIGNATURE` | Google's billing service |
/// | `originalJson`, `dataAndroid`, `signatureAndroid` | Google's library and React Native |
/// | `inAppPurchaseData`, `purchaseTokenData`, `dataSignature` and others | Huawei |
enum DetachedWrapping {
  static let dataNames = [
    "data", "json", "receipt", "originalJson", "INAPP_PURCHASE_DATA", "purchaseData", "dataAndroid",
    "inAppPurchaseData", "purchaseTokenData",
  ]
  static let signatureNames = [
    "signature", "INAPP_DATA_SIGNATURE", "dataSignature", "signatureAndroid", "inAppPurchaseDataSignature",
    "inAppSignature", "inAppDataSignature",
  ]
  static let algorithmNames = ["signatureAlgorithm", "algorithm"]

  private static let plainNames = NameTable(["data", "signature", "signatureAlgorithm"])

  /// Reads an object whose only members are `data`, `signature` and `signatureAlgorithm`, in one pass. Returns `nil`
  /// for any other JSON.
  static func plain(
    _ json: [UInt8], limits: ReceiptLimits
  ) throws(MalformedReceipt) -> UnverifiedDetachedReceipt? {
    guard json.first == UInt8(ascii: "{") else { return nil }
    var reader = try JSONReader(json, part: "JSON document", limits: limits)
    try reader.beginObject()
    var values: (data: ArraySlice<UInt8>?, signature: ArraySlice<UInt8>?, algorithm: ArraySlice<UInt8>?)
    var count = 0
    while try reader.nextMember(isFirst: count == 0) {
      guard !reader.nameHasEscapes, reader.position < json.count, json[reader.position] == UInt8(ascii: "\""),
        let index = plainNames.index(of: json.span.extracting(reader.nameRange), likely: count)
      else { return nil }
      count += 1
      switch index {
      case 0 where values.data == nil: values.data = try reader.stringBytes()
      case 1 where values.signature == nil: values.signature = try reader.stringBytes()
      case 2 where values.algorithm == nil: values.algorithm = try reader.stringBytes()
      default: return nil
      }
    }
    try reader.finish()
    guard let data = values.data, let signature = values.signature else { return nil }
    return try UnverifiedDetachedReceipt(
      signedBytes: Array(data), signatureText: signature,
      algorithm: values.algorithm.map { String(decoding: $0, as: UTF8.self) }, encoded: json,
      at: "$.signature")
  }

  /// Returns the receipt in an object's members; `nil` if there is no receipt in them.
  static func receipt(
    in members: [JSONMember], at path: String, limits: ReceiptLimits
  ) throws(MalformedReceipt) -> UnverifiedDetachedReceipt? {
    let data = try only(dataNames, in: members, at: path)
    let signature = try only(signatureNames, in: members, at: path)
    guard let data else { return nil }
    guard let signature else {
      guard data.name == "data", data.value.string != nil else { return nil }
      throw MalformedReceipt(
        .missing, at: .jsonPath("\(path).signature"),
        "Data without a signature proves nothing; the member \"signature\" is required beside \"data\".")
    }
    let text = try string(data, at: path)
    let signatureText = try string(signature, at: path)
    let algorithm = try only(algorithmNames, in: members, at: path)
    var stated: String?
    if let algorithm, algorithm.value != .null { stated = try string(algorithm, at: path) }
    do throws(MalformedReceipt) {
      return try UnverifiedDetachedReceipt(
        signedBytes: Array(text.utf8), signature: signatureText, algorithm: stated)
    } catch {
      guard error.place == .jsonPath("$.signature") else { throw error }
      throw MalformedReceipt(error.code, at: .jsonPath("\(path).\(signature.name)"), error.message)
    }
  }

  /// Returns the member that has one of the names; throws if there are several.
  private static func only(
    _ names: [String], in members: [JSONMember], at path: String
  ) throws(MalformedReceipt) -> JSONMember? {
    let found = members.filter { member in names.contains { UTF8Text.isIdentical($0, member.name) } }
    guard found.count < 2 else {
      throw MalformedReceipt(
        .unsupported, at: .jsonPath(path),
        "The JSON object has several of \(found.map(\.name).joined(separator: ", ")). Pass one.")
    }
    return found.first
  }

  private static func string(_ member: JSONMember, at path: String) throws(MalformedReceipt) -> String {
    guard let text = member.value.string else {
      throw MalformedReceipt(
        .wrongType, at: .jsonPath("\(path).\(member.name)"),
        "The member \"\(member.name)\" must be a string. What the store signed is a text, not its parsed form: pass "
          + "it exactly as received.")
    }
    return text
  }
}
