// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// Explains the damage to data that a store signed and that was not passed on byte for byte. It undoes common kinds of
/// damage until the digest is the signed one. The result only explains a refusal: repaired data is never accepted.
struct DamagedData {
  private let bytes: [UInt8]
  /// The data without a byte order mark and surrounding white space.
  private let text: [UInt8]
  private let value: JSONValue?

  /// The maximum length of data that is parsed and re-encoded for an explanation. Data is re-encoded in dozens of ways,
  /// which for longer data would cost more than verifying a valid receipt of the same length. The longest purchases of
  /// the stores have 2 KB.
  private static let maximumByteCount = 4096

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    text = ReceiptText.trimming(ByteOrderMark.dropped(from: bytes))
    value = bytes.count <= Self.maximumByteCount ? try? JSONValue(parsing: text) : nil
  }

  /// The app that the data claims to be of; `nil` if it cannot be read.
  var packageName: String? {
    let name = value?["packageName"] ?? value?["orders"]?.array?.first?["packageName"]
    return name?.string.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Returns the damage to the data, provided that a key of its app made the signature.
  func explanation(isSigned: ([UInt8]) -> Bool) -> String {
    let advice = "Pass the data byte for byte as the store gave it."
    if let ends = endsExplanation(isSigned) { return "\(ends) \(advice)" }
    guard let value, value.object != nil else {
      return "the app's key signed other data than this. \(advice)"
    }
    for repair in Repair.all {
      guard let repaired = repair.apply(to: value) else { continue }
      for style in EscapeStyle.all {
        let candidate = style.encoded(repaired)
        guard isSigned(candidate) else { continue }
        return "the data was parsed and written again (\(changes(repair, style, from: candidate))). \(advice)"
      }
    }
    if let nonce = roundedNonce(in: value) {
      return
        "the app's key signed other data than this: the nonce \(nonce) has been rounded to a floating-point number, "
        + "as JavaScript does when it parses the data and writes it again. \(advice)"
    }
    return "the app's key signed other data than this: it was edited, or parsed and written again"
      + "\(hasWhiteSpace ? " (it has white space between its members)" : ""). \(advice)"
  }

  /// Returns the explanation if only bytes at the start or end of the data were added or removed.
  private func endsExplanation(_ isSigned: ([UInt8]) -> Bool) -> String? {
    let withoutMark = ByteOrderMark.dropped(from: bytes)
    let hasMark = withoutMark.count < bytes.count
    if hasMark, isSigned(withoutMark) { return "a byte order mark was put in front of the data." }
    if text != withoutMark, isSigned(text) {
      return hasMark
        ? "a byte order mark was put in front of the data, and white space around it."
        : "white space, such as a line end, was put around the data."
    }
    for end in ["\n", "\r\n", "\r", " "] where isSigned(text + Array(end.utf8)) {
      return "the white space at the end of the data, such as a line end, is signed and was removed."
    }
    return nil
  }

  private func changes(_ repair: Repair, _ style: EscapeStyle, from signed: [UInt8]) -> String {
    var changes: [String] = []
    if hasWhiteSpace { changes.append("white space was added") }
    if repair.ordersMembers { changes.append("the members were reordered") }
    if repair.restoresTypes {
      changes.append("the nested payload was unescaped, or values changed their type")
    }
    if repair.dropsUnknown { changes.append("members were added") }
    if changes.isEmpty || !style.isIn(text) { changes.append("characters were escaped otherwise") }
    return changes.joined(separator: ", ")
  }

  /// `true` if there is white space outside strings.
  private var hasWhiteSpace: Bool {
    var isInString = false
    var isEscaped = false
    for byte in text {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
      } else if byte == UInt8(ascii: "\"") {
        isInString = true
      } else if byte <= 0x20 {
        return true
      }
    }
    return false
  }

  /// Returns a nonce that was probably rounded to a floating-point number. It lies beyond 2^53 and is a multiple of
  /// 1000, or is not an integer of 64 bits; a real nonce uses all its digits.
  private func roundedNonce(in value: JSONValue) -> String? {
    guard case .number(let number)? = value["nonce"] else { return nil }
    guard let integer = number.int64 else { return number.text }
    guard integer.magnitude > 1 << 53, integer % 1000 == 0 else { return nil }
    return number.text
  }
}

/// A way to undo the effects of parsing and re-encoding on the members.
private struct Repair {
  let ordersMembers: Bool
  let restoresTypes: Bool
  let dropsUnknown: Bool

  static let all = [
    Repair(ordersMembers: false, restoresTypes: false, dropsUnknown: false),
    Repair(ordersMembers: true, restoresTypes: false, dropsUnknown: false),
    Repair(ordersMembers: false, restoresTypes: true, dropsUnknown: false),
    Repair(ordersMembers: true, restoresTypes: true, dropsUnknown: false),
    Repair(ordersMembers: true, restoresTypes: true, dropsUnknown: true),
  ]

  /// The order in which the stores write members, as observed in purchases of 2011 to 2025.
  private static let googleOrder = [
    "nonce", "orders", "notificationId", "orderId", "packageName", "productId", "purchaseTime",
    "purchaseState",
    "developerPayload", "purchaseToken", "obfuscatedAccountId", "obfuscatedProfileId", "quantity",
    "autoRenewing",
    "acknowledged",
  ]
  private static let huaweiOrder = [
    "autoRenewing", "orderId", "packageName", "applicationId", "applicationIdString", "kind", "productId",
    "productName", "purchaseTime", "purchaseTimeMillis", "purchaseState", "developerPayload",
    "developerChallenge",
    "purchaseToken", "consumptionState", "confirmed", "purchaseType", "currency", "price", "country",
    "payOrderId",
    "payType", "sdkChannel",
  ]
  private static let integers: Set<String> = [
    "nonce", "purchaseTime", "purchaseTimeMillis", "purchaseState", "quantity", "applicationId", "kind",
    "consumptionState", "confirmed", "purchaseType", "price",
  ]
  private static let flags: Set<String> = ["autoRenewing", "acknowledged"]

  /// Returns the repaired value; `nil` if the repair does not change it.
  func apply(to value: JSONValue) -> JSONValue? {
    let isHuawei = value["applicationId"] != nil || value["applicationIdString"] != nil
    let repaired = repaired(value, order: isHuawei ? Self.huaweiOrder : Self.googleOrder)
    let isIdentity = !ordersMembers && !restoresTypes
    return isIdentity || repaired != value ? repaired : nil
  }

  private func repaired(_ value: JSONValue, order: [String]) -> JSONValue {
    guard case .object(var members) = value else { return value }
    if restoresTypes {
      members = members.compactMap { member in
        member.value == .null
          ? nil : JSONMember(name: member.name, value: restored(member.value, of: member.name))
      }
    }
    if dropsUnknown { members.removeAll { !order.contains($0.name) } }
    members = members.map { member in
      guard member.name == "orders", let orders = member.value.array else { return member }
      return JSONMember(name: member.name, value: .array(orders.map { repaired($0, order: order) }))
    }
    if ordersMembers {
      let ranked = members.enumerated().map { index, member in
        (rank: order.firstIndex(of: member.name) ?? order.count + index, member: member)
      }
      members = ranked.sorted { $0.rank < $1.rank }.map(\.member)
    }
    return .object(members)
  }

  /// Returns the value with the type that the store gives it.
  private func restored(_ value: JSONValue, of name: String) -> JSONValue {
    if name == "orders" { return value }
    if Self.integers.contains(name) {
      switch value {
      case .string(let text): return JSONNumber(text: text).map { .number($0) } ?? value
      case .number(let number) where number.int64 == nil:
        return Int64(exactly: number.double).map { .integer($0) } ?? value
      default: return value
      }
    }
    if Self.flags.contains(name) {
      switch value {
      case .string(let text): return text == "true" || text == "1" ? .bool(true) : .bool(false)
      case .number(let number): return .bool(number.int64 != 0)
      default: return value
      }
    }
    switch value {
    case .object, .array: return .string(String(decoding: value.encoded(), as: UTF8.self))
    case .number(let number): return .string(number.text)
    default: return value
    }
  }
}

/// The way in which a JSON encoder escapes characters that need no escape.
private struct EscapeStyle {
  var escapesSlash = false
  var escapesHTML = false
  var escapesNonASCII = false
  var isUppercase = false

  static let all: [EscapeStyle] = [
    EscapeStyle(),
    EscapeStyle(escapesSlash: true),
    EscapeStyle(escapesHTML: true),
    EscapeStyle(escapesNonASCII: true),
    EscapeStyle(escapesSlash: true, escapesNonASCII: true),
    EscapeStyle(escapesHTML: true, escapesNonASCII: true),
    EscapeStyle(escapesNonASCII: true, isUppercase: true),
  ]

  /// Returns `true` if the text uses the escapes of this style.
  func isIn(_ text: [UInt8]) -> Bool {
    func contains(_ part: StaticString) -> Bool { ByteSearch.contains(part, in: text.span) }
    return contains("\\/") == escapesSlash && contains("\\u00") == escapesHTML
      && (escapesNonASCII || !contains("\\u") || escapesHTML)
  }

  func encoded(_ value: JSONValue) -> [UInt8] {
    let plain = value.encoded()
    guard escapesSlash || escapesHTML || escapesNonASCII else { return plain }
    var escaped: [UInt8] = []
    escaped.reserveCapacity(plain.count + 64)
    // These characters occur only inside strings.
    for scalar in String(decoding: plain, as: UTF8.self).unicodeScalars {
      switch scalar {
      case "/" where escapesSlash: escaped += Array("\\/".utf8)
      case "<", ">", "&", "=", "'":
        if escapesHTML {
          append(UInt16(scalar.value), to: &escaped)
        } else {
          escaped.append(UInt8(scalar.value))
        }
      case _ where scalar.value > 0x7E && escapesNonASCII:
        for unit in String(scalar).utf16 { append(unit, to: &escaped) }
      default: escaped += Array(String(scalar).utf8)
      }
    }
    return escaped
  }

  private func append(_ unit: UInt16, to escaped: inout [UInt8]) {
    let digits = String(unit, radix: 16, uppercase: isUppercase)
    escaped += Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
  }
}
