// SPDX-License-Identifier: Apache-2.0

#if Server
  /// The names of settings, and the error messages for other names.
  ///
  /// Each setting has one spelling in files and on the command line, such as `app.shop.policy.default.maximumAge`, and
  /// one in the environment, `RECEIPT_SERVER_APP_SHOP_POLICY_DEFAULT_MAXIMUM_AGE`. Any other spelling is an error,
  /// because a silently ignored setting protects nothing.
  package struct SettingNames: Sendable {
    package static let environmentPrefix = "RECEIPT_SERVER_"

    package enum Variable: Sendable, Hashable {
      case setting
      /// A variable that is meant as a setting but is not one, with the reason and the remedy.
      case mistake(String)
      /// Something else, which is ignored.
      case unrelated
    }

    private let names: Set<String>
    /// The settings that a variable stands for: more than one if names differ only in case or punctuation.
    private let variables: [String: [String]]

    package init(_ names: Set<String>) {
      self.names = names
      variables = Dictionary(grouping: names, by: Self.variable)
    }

    /// The error message for a name in a file or on the command line; `nil` if the setting exists.
    package func mistake(in name: String) -> String? {
      names.contains(name) ? nil : Self.noSuchSetting + hint(name, among: names)
    }

    /// The correct spelling of a name that differs from a setting's only in case or punctuation.
    package func spelling(of name: String) -> String? {
      guard !names.contains(name) else { return nil }
      let folded = Self.folded(name)
      return names.sorted().first { Self.folded($0) == folded }
    }

    /// Returns `true` if the name of any setting begins with the given name and a dot.
    package func isGroup(_ name: String) -> Bool { names.contains { $0.hasPrefix(name + ".") } }

    /// Classifies a variable whose name begins with ``environmentPrefix``, in any case.
    ///
    /// A variable that resembles a setting, or begins as settings do, is a mistake. A variable that Kubernetes sets for
    /// a service is not a mistake: a service named `receipt-server` sets `RECEIPT_SERVER_PORT=tcp://…` in each pod.
    package func judge(variable: String, value: String) -> Variable {
      if Self.isOfKubernetes(variable, value: value) { return .unrelated }
      if let found = variables[variable] {
        guard let first = found.sorted().first, let last = found.sorted().last, first != last else {
          return .setting
        }
        return .mistake("It stands for both \(first) and \(last). Set them in the file.")
      }
      let prefix = Self.environmentPrefix
      guard variable.uppercased().hasPrefix(prefix) else { return .unrelated }
      let rest = variable.dropFirst(prefix.count)
      let isAmongSettings = variables.keys.contains { known in
        let first = known.dropFirst(prefix.count).prefix { $0 != "_" }
        return rest.prefix { $0 != "_" }.uppercased() == first
      }
      let hint = hint(variable, among: variables.keys)
      return isAmongSettings || !hint.isEmpty ? .mistake(Self.noSuchSetting + hint) : .unrelated
    }

    /// Returns `true` for a variable that Kubernetes sets for a service of the namespace, in the style of Docker links
    /// (<https://kubernetes.io/docs/tutorials/services/connecting-applications-service/#environment-variables>).
    package static func isOfKubernetes(_ variable: String, value: String) -> Bool {
      guard variable.hasPrefix(environmentPrefix) else { return false }
      // The service may have a longer name, as in RECEIPT_SERVER_METRICS_SERVICE_HOST.
      let name = "_" + variable.dropFirst(environmentPrefix.count)
      let address = value.wholeMatch(of: /(?s:(?:tcp|udp|sctp):\/\/.+:(\d+))/)
      let isAddress = address.flatMap { UInt16($0.1) } != nil
      if name.hasSuffix("_SERVICE_HOST") { return true }
      // The name of a named port may follow.
      if name.contains(/_SERVICE_PORT(?:_|$)/) { return UInt16(value) != nil }
      if name.hasSuffix("_PORT"), isAddress { return true }
      let port = name.wholeMatch(of: /.*_PORT_(\d+)_(?:TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?/)
      guard let port, UInt16(port.1) != nil else { return false }
      return port.2 != nil || isAddress
    }

    /// The environment variable of a setting, as swift-configuration derives it: a capital letter begins a word.
    package static func variable(_ name: String) -> String {
      let parts = name.split(separator: ".", omittingEmptySubsequences: false).map { part in
        var spelled = ""
        for character in part {
          if character.isUppercase, spelled.last?.isLowercase ?? false { spelled += "_" }
          spelled.append(character)
        }
        return String(spelled.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
      }
      return environmentPrefix + parts.joined(separator: "_")
    }

    private static let noSuchSetting =
      "There is no such setting, or it has no effect with the others. Remove it, or correct its name."

    private func hint(_ name: String, among known: some Collection<String>) -> String {
      let folded = Self.folded(name)
      let limit = min(2, folded.count / 3)
      let nearest = known.sorted().map { ($0, Self.distance(folded, Self.folded($0), limit: limit)) }
        .min { $0.1 < $1.1 }
      guard let nearest, nearest.1 <= limit else { return "" }
      return nearest.1 == 0 ? " It is spelled \(nearest.0)." : " Did you mean \(nearest.0)?"
    }

    private static func folded(_ name: String) -> [Character] {
      name.lowercased().filter { $0.isLetter || $0.isNumber }.map(\.self)
    }

    /// The edit distance, which is the number of characters to add, remove or change; greater than `limit` if it
    /// exceeds `limit`.
    private static func distance(_ one: [Character], _ other: [Character], limit: Int) -> Int {
      guard abs(one.count - other.count) <= limit else { return limit + 1 }
      var row = Array(0...other.count)
      for (index, character) in one.enumerated() {
        var diagonal = row[0]
        row[0] = index + 1
        for (column, against) in other.enumerated() {
          let changed = diagonal + (character == against ? 0 : 1)
          diagonal = row[column + 1]
          row[column + 1] = min(changed, row[column] + 1, row[column + 1] + 1)
        }
      }
      return row[other.count]
    }
  }
#endif
