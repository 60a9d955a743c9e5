// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Mustache
  internal import ReceiptBytes
  internal import ReceiptCrypto

  /// The templates of the console's pages.
  struct ConsoleTemplates: Sendable {
    private let library: MustacheLibrary
    /// Stands in the addresses of assets, so that browsers may keep them.
    let version: String

    /// - Throws: An error of the parser: the templates are part of the program, and a test reads them all.
    init() throws {
      MustacheContentTypes.register(EscapedHTML(), named: "ESCAPED_HTML")
      library = MustacheLibrary(
        templates: try ConsoleAssets.templates.mapValues {
          // In each, as a partial begins with the library's own content type.
          try MustacheTemplate(string: "{{% CONTENT_TYPE: ESCAPED_HTML}}\n" + $0)
        })
      let files = ConsoleAssets.files.sorted { $0.key < $1.key }.map(\.value).joined()
      version = String(SHA256Digest(of: Array(files.utf8)).hexadecimal.prefix(12))
    }

    /// Fills in a template.
    func render(_ name: String, _ model: Any) -> String { library.render(model, withTemplate: name) ?? "" }
  }

  /// Escapes for text and for attributes in quotation marks, and replaces control and invisible formatting characters other
  /// than tabs and line breaks. A line break is one for HTML: a carriage return, a line feed, or both.
  ///
  /// Scalar by scalar: swift-mustache compares characters, so that a quotation mark with a combining accent after it would
  /// pass, and end the attribute; and a carriage return with its line feed is one character.
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
