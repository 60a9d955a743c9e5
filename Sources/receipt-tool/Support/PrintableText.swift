// SPDX-License-Identifier: Apache-2.0

/// Text from a receipt on its way to a terminal, which it must not steer.
enum PrintableText {
  /// The text with control and invisible formatting characters replaced.
  static func sanitized(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
          default: scalar
          }
        }))
  }
}
