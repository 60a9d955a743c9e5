// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import FoundationInternationalization

/// A language as localisations are matched by it.
struct LanguageTag: Hashable {
  let language: String
  /// The script, the usual one of the language where the tag names none: `zh_TW` is written in `Hant`.
  let script: String
  /// The region, if the tag names one.
  let region: String?

  /// `nil` where there is no language in it.
  init?(_ locale: Locale) {
    guard let language = locale.language.languageCode?.identifier, !language.isEmpty else { return nil }
    self.language = language.lowercased()
    script = locale.language.script?.identifier ?? ""
    region = locale.region?.identifier
  }

  /// Reads `en_US`, `de`, `zh-Hans`.
  init?(_ identifier: String) {
    guard !identifier.isEmpty, identifier.utf8.count <= 64 else { return nil }
    self.init(Locale(identifier: identifier))
  }
}

/// Which of several localisations a customer reads.
enum LanguageMatch {
  /// The language of products that have none of the customer's.
  static let fallback = LanguageTag("en_US")

  /// The place of the best localisation; `nil` only if there is none.
  ///
  /// For each preferred language in turn: the very one; one of the same language and script, best without a region; one
  /// of the same language. If none has any, `en_US`, and then the first.
  static func index(of preferred: [LanguageTag], among available: [LanguageTag?]) -> Int? {
    for wanted in preferred {
      if let index = available.firstIndex(of: wanted) { return index }
      let related = available.indices.filter { available[$0]?.language == wanted.language }
      let written = related.filter { available[$0]?.script == wanted.script }
      if let index = written.first(where: { available[$0]?.region == nil }) ?? written.first ?? related.first
      {
        return index
      }
    }
    return available.firstIndex(of: fallback) ?? available.indices.first
  }
}
