// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Mustache
  internal import ReceiptBytes
  internal import ReceiptCrypto

  struct ConsoleTemplates: Sendable {
    private let library: MustacheLibrary
    /// The version in the URLs of assets, so that browsers can cache them.
    let version: String

    /// - Throws: An error of the parser. The templates are part of the program, and a test parses all of them.
    init() throws {
      MustacheContentTypes.register(EscapedHTML(), named: "ESCAPED_HTML")
      library = MustacheLibrary(
        templates: try ConsoleAssets.templates.mapValues {
          // Each template needs this, because a partial starts with the library's own content type.
          try MustacheTemplate(string: "{{% CONTENT_TYPE: ESCAPED_HTML}}\n" + $0)
        })
      let files = ConsoleAssets.files.sorted { $0.key < $1.key }.map(\.value).joined()
      version = String(SHA256Digest(of: Array(files.utf8)).hexadecimal.prefix(12))
    }

    func render(_ name: String, _ model: Any) -> String { library.render(model, withTemplate: name) ?? "" }
  }

  /// Escapes text for HTML text and quoted attributes.
  ///
  /// Control characters and invisible formatting characters are replaced, except tabs and line breaks.
  ///
  /// A carriage return, a line feed, or both together are one line break in HTML.
  ///
  /// It works on Unicode scalars. swift-mustache compares characters, so a quotation mark that is followed by a
  /// combining accent would pass, and end the attribute. Also, a carriage return with its line feed is a single
  /// character.
  struct EscapedHTML: MustacheContentType {
    func escapeText(_ text: String) -> String {
      var escaped = String.UnicodeScalarView()
      var plain = String.UnicodeScalarView()
      func endRun() {
        guard !plain.isEmpty else { return }
        for scalar in ShownText.plain(String(plain)).unicodeScalars {
          switch scalar {
          case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
          case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
          case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
          case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
          case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
          default: escaped.append(scalar)
          }
        }
        plain.removeAll(keepingCapacity: true)
      }
      var isAfterCarriageReturn = false
      for scalar in text.unicodeScalars {
        switch scalar {
        case "\n" where isAfterCarriageReturn: break
        case "\r", "\n", "\t":
          endRun()
          escaped.append(scalar == "\t" ? scalar : "\n")
        default: plain.append(scalar)
        }
        isAfterCarriageReturn = scalar == "\r"
      }
      endRun()
      return String(escaped)
    }
  }
#endif
