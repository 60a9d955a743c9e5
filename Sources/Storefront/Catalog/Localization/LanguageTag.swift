// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import FoundationInternationalization

/// The language, script and region that localisations are matched by.
struct LanguageTag: Hashable {
  let language: String
  /// The script, the usual one of the language where the tag names none: `zh_TW` is written in `Hant`.
  let script: String
  /// The region, if the tag names one.
  let region: String?

  /// `nil` for a locale without language.
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

/// Chooses the best of several localisations.
enum LanguageMatch {
  /// The language of products that are not localised for the customer.
  static let fallback = LanguageTag("en_US")

  /// The index of the best localisation; `nil` only if there is none.
  ///
  /// For each preferred language in order: an exact match; else the same language and script, preferably without a
  /// region; else the same language. If no preferred language matches, `en_US`; else the first.
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
