// SPDX-License-Identifier: Apache-2.0

#if Server
  import ReceiptCodec
  import ReceiptService

  /// A setting of the configuration: a row of `WireTypes/receipt-server/Server.settings`.
  struct Setting {
    /// The name, with `NAME` for the own name of an app, a policy, an entitlement or a webhook.
    let name: String
    /// The type with its unit and bounds, in words.
    let takes: String
    let bounds: ClosedRange<Int>?
    /// The default value, spelled as after `--set`; `nil` if the setting has no default.
    let initial: String?
    /// The default, in words.
    let shownDefault: String?
    let isSecret: Bool
    /// A valid value, spelled as after `--set`.
    let example: String?
    let meaning: String

    init(
      _ name: String, takes: String = "text", bounds: ClosedRange<Int>? = nil, initial: String? = nil,
      describedDefault: String? = nil, isSecret: Bool = false, example: String? = nil, meaning: String = ""
    ) {
      self.name = name
      self.takes = takes
      self.bounds = bounds
      self.initial = initial
      shownDefault = describedDefault ?? initial
      self.isSecret = isSecret
      self.example = example
      self.meaning = meaning
    }

    private static let byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }

    /// The row of a name. A name that the table lacks has no default; a test compares the names that are read with the
    /// table.
    static func named(_ name: String) -> Setting { byName[name] ?? Setting(name) }

    /// The elements of the initial value of a list.
    var initialElements: [String] { initial?.split(separator: ",").map(String.init) ?? [] }

    var text: String {
      var facts = takes
      if let shownDefault {
        facts += "; \(shownDefault.hasPrefix("required") ? "" : "default: ")\(shownDefault)"
      }
      if isSecret { facts += "; secret" }
      let instance = example.map { "for example \($0); " } ?? ""
      return """
        \(name)  \(facts)
            \(meaning)
            \(instance)in the environment \(SettingNames.variable(name))
        """
    }

    var json: String {
      var object = JSONWriter(type: "setting")
      object.member("name", name)
      object.member("takes", takes)
      object.member("default", shownDefault)
      object.member("secret", isSecret)
      object.member("example", example)
      object.member("meaning", meaning)
      object.member("variable", SettingNames.variable(name))
      object.endObject()
      return object.text
    }
  }
#endif
