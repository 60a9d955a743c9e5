// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptCodec

/// Values that both file formats share.

/// Refuses members that the format does not have.
func refuseUnknown(_ members: [JSONMember], at path: String) throws(CatalogError) {
  guard let member = members.first else { return }
  throw CatalogError(
    .unknownMember, at: memberPath(path, member.name),
    "The format has no member \"\(member.name)\" here; correct its spelling or remove it.")
}

/// The path of a member, whose name may need quotation marks.
private func memberPath(_ path: String, _ name: String) -> String {
  guard !JSONPathFinder.isPlain(name) else { return "\(path).\(name)" }
  return "\(path)[" + String(decoding: JSONValue.string(name).encoded(), as: UTF8.self) + "]"
}

func catalogPrice(_ text: String, at path: String) throws(CatalogError) -> Decimal {
  do throws(PriceText.Fault) {
    return PriceText.decimal(milliunits: try PriceText.milliunits(text))
  } catch {
    throw CatalogError(.invalidPrice, at: path, error.message(text))
  }
}

func catalogPeriod(_ text: String, at path: String) throws(CatalogError) -> SubscriptionPeriod {
  guard let period = SubscriptionPeriod(text) else {
    throw CatalogError(
      .invalidPeriod, at: path,
      "\"\(text)\" is not a period; write a number of days, weeks, months or years as P3D, P1W, P1M, P1Y.")
  }
  return period
}

/// A count, clamped to `Int`; the checker refuses what is out of range.
func catalogCount(_ count: Int64) -> Int { Int(clamping: count) }

/// Reads a list whose elements must be unique.
func catalogSet(_ identifiers: [String], of what: String, at path: String) throws(CatalogError) -> Set<String>
{
  var set: Set<String> = []
  for (index, identifier) in identifiers.enumerated() {
    try checkIdentifier(identifier, what, at: "\(path)[\(index)]")
    guard set.insert(identifier).inserted else {
      throw CatalogError(
        .duplicateIdentifier, at: "\(path)[\(index)]", "\"\(identifier)\" occurs twice; remove one.")
    }
  }
  return set
}
