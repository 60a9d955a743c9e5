// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Authoring JSON for Google Play and Huawei: the members of the data, with missing times and states filled in.
enum DetachedInput {
  static func content(
    _ members: [JSONMember], as kind: ReceiptKind, signedAt now: Timestamp, limits: ReceiptLimits
  ) throws(SigningError) -> DetachedContent {
    let place = JSONPath()
    if kind == .googlePlayLicense {
      return .googlePlayLicense(try license(members, at: place, signedAt: now))
    }
    let isOrderList = members.contains { $0.name == "orders" }
    var members = members
    if !isOrderList {
      let advice = "Add it, a string such as \"com.example.app\"."
      try members.require([("packageName", advice), ("productId", advice)], at: place)
      if !members.states("purchaseTime") {
        members.append(
          JSONMember(name: "purchaseTime", value: .integer(Int64(clamping: now.wholeMilliseconds))))
      }
      if !members.states("purchaseState") {
        members.append(JSONMember(name: "purchaseState", value: .integer(0)))
      }
    }
    do throws(MalformedReceipt) {
      return try DetachedContent(
        authoring: JSONValue.object(members.filter { $0.value != .null }).encoded(),
        store: kind == .huaweiPurchase ? .huawei : .googlePlay, limits: limits)
    } catch {
      throw place.failure(error)
    }
  }

  private static func license(
    _ members: [JSONMember], at place: JSONPath, signedAt now: Timestamp
  ) throws(SigningError) -> GooglePlayLicense {
    var object = AuthoringObject(members, at: place)
    guard let packageName = try object.string("packageName"), !packageName.isEmpty else {
      throw place.missing("packageName", "Add the app's package name, such as \"com.example.app\".")
    }
    guard let nonce = try object.integer("nonce") else {
      throw place.missing("nonce", "Add the number of the request, a whole number.")
    }
    let responseCode = try object.integer("responseCode") ?? 0
    let versionCode = try object.identifier("versionCode") ?? "1"
    let userId = try object.string("userId") ?? ""
    let timestamp = try object.date("timestamp") ?? now
    let extras = try object.string("extras")
    try object.finish()
    for (name, value) in [("packageName", packageName), ("versionCode", versionCode), ("userId", userId)]
    where value.contains("|") || value.contains(":") {
      throw place.member(name).failure(
        .malformedInput, "The field \"\(name)\" must not contain \"|\" or \":\".")
    }
    return GooglePlayLicense(
      responseCode: GooglePlayLicense.ResponseCode(rawValue: responseCode), nonce: nonce,
      packageName: packageName,
      versionCode: versionCode, userId: userId, timestamp: timestamp, extras: extras)
  }
}
