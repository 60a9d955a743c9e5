// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

extension WitnessPolicy {
  /// Parses a policy file.
  ///
  /// - Throws: ``LogFormatError``, with the line number.
  public init(parsing bytes: [UInt8]) throws(LogFormatError) {
    guard bytes.count <= Self.maximumByteCount else {
      throw LogFormatError(.tooLarge, .none, "more than \(Self.maximumByteCount) bytes")
    }
    var parser = PolicyParser()
    var reader = LineReader(bytes[...])
    while let line = try reader.next() { try parser.add(line, reader.place) }
    guard let quorum = parser.quorum else {
      throw LogFormatError(.truncated, .line(reader.lineNumber + 1), "a policy has a \"quorum\" line")
    }
    self.init(
      logs: parser.logs, witnesses: parser.witnesses, groups: parser.groups,
      quorum: quorum == PolicyParser.none ? nil : quorum)
  }

  /// The policy as a file without comments: logs, witnesses, groups, quorum.
  public var encoded: [UInt8] {
    var lines: [[[UInt8]]] = logs.map { [Array("log \($0.key)".utf8)] + [$0.url].compactMap { $0 } }
    lines += witnesses.map {
      [Array("witness".utf8), $0.name, Array($0.key.text.utf8)] + [$0.url].compactMap { $0 }
    }
    lines += groups.map { [Array("group".utf8), $0.name, Array("\($0.threshold)".utf8)] + $0.members }
    lines.append([Array("quorum".utf8), quorum ?? PolicyParser.none])
    return lines.reduce(into: []) { $0 += $1.joined(separator: [ASCII.space]) + [ASCII.newline] }
  }
}

private struct PolicyParser {
  static let none = Array("none".utf8)

  var logs: [WitnessPolicy.Log] = []
  var witnesses: [WitnessPolicy.Witness] = []
  var groups: [WitnessPolicy.Group] = []
  var quorum: [UInt8]?

  private var names: Set<[UInt8]> = [none]
  private var members: Set<[UInt8]> = []
  private var logKeys: Set<[UInt8]> = []
  private var witnessKeys: Set<[UInt8]> = []

  private var place = LogFormatError.Place.none

  mutating func add(_ line: ArraySlice<UInt8>, _ place: LogFormatError.Place) throws(LogFormatError) {
    self.place = place
    guard line.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else {
      throw error(.controlCharacter, "a control character other than tab and newline")
    }
    let items = line.split { $0 == ASCII.space || $0 == 0x09 }
    guard let keyword = items.first, keyword.first != UInt8(ascii: "#") else { return }
    switch String(decoding: keyword, as: UTF8.self) {
    case "log": try addLog(items)
    case "witness": try addWitness(items)
    case "group": try addGroup(items)
    case "quorum": try addQuorum(items)
    default: throw error(.unexpectedLine, "expected \"log\", \"witness\", \"group\" or \"quorum\"")
    }
  }

  private mutating func addLog(_ items: [ArraySlice<UInt8>]) throws(LogFormatError) {
    guard (2...3).contains(items.count) else { throw error(.unexpectedLine, "expected \"log VKEY [URL]\"") }
    let key = try key(items[1], .ed25519)
    guard logKeys.insert(key.publicKey.rawRepresentation).inserted else {
      throw error(.duplicate, "a log with this key is listed before")
    }
    logs.append(WitnessPolicy.Log(key: key, url: items.count == 3 ? Array(items[2]) : nil))
  }

  private mutating func addWitness(_ items: [ArraySlice<UInt8>]) throws(LogFormatError) {
    guard (3...4).contains(items.count) else {
      throw error(.unexpectedLine, "expected \"witness NAME VKEY [URL]\"")
    }
    let key = try key(items[2], .cosignature)
    guard witnessKeys.insert(key.publicKey.rawRepresentation).inserted else {
      throw error(.duplicate, "a witness with this key is listed before")
    }
    let name = try define(items[1])
    let url = items.count == 4 ? Array(items[3]) : nil
    witnesses.append(WitnessPolicy.Witness(name: name, key: key, url: url))
  }

  private mutating func addGroup(_ items: [ArraySlice<UInt8>]) throws(LogFormatError) {
    guard items.count >= 4 else {
      throw error(.unexpectedLine, "expected \"group NAME all|any|NUMBER MEMBER…\"")
    }
    let names = items[3...].map { Array($0) }
    for name in names {
      try checkDefined(name)
      guard members.insert(name).inserted else {
        throw error(.duplicate, "a name is a member once, of one group")
      }
    }
    let threshold: Int
    switch String(decoding: items[2], as: UTF8.self) {
    case "all": threshold = names.count
    case "any": threshold = 1
    default:
      guard let number = ASCII.decimal(items[2]), number >= 1, number <= names.count else {
        throw error(.malformedNumber, "expected \"all\", \"any\" or a number from 1 to \(names.count)")
      }
      threshold = Int(number)
    }
    // Defined last, so that a group cannot be its own member.
    groups.append(WitnessPolicy.Group(name: try define(items[1]), threshold: threshold, members: names))
  }

  private mutating func addQuorum(_ items: [ArraySlice<UInt8>]) throws(LogFormatError) {
    guard items.count == 2 else {
      throw error(.unexpectedLine, "expected \"quorum NAME\" or \"quorum none\"")
    }
    guard quorum == nil else { throw error(.duplicate, "a policy has one \"quorum\" line") }
    let name = Array(items[1])
    if name != Self.none { try checkDefined(name) }
    quorum = name
  }

  private mutating func define(_ name: ArraySlice<UInt8>) throws(LogFormatError) -> [UInt8] {
    guard names.insert(Array(name)).inserted else { throw error(.duplicate, "the name is taken") }
    return Array(name)
  }

  private func checkDefined(_ name: [UInt8]) throws(LogFormatError) {
    guard name != Self.none, names.contains(name) else {
      throw error(.undefinedName, "no line before defines this witness or group")
    }
  }

  private func key(
    _ text: ArraySlice<UInt8>, _ kind: NoteVerifierKey.Kind
  ) throws(LogFormatError) -> NoteVerifierKey {
    let key = try NoteVerifierKey(text, place)
    guard key.kind == kind else {
      throw error(
        .unsupportedKeyType, "expected a key of type \(kind.rawValue), found \(key.kind.rawValue)")
    }
    return key
  }

  private func error(_ code: LogFormatError.Code, _ message: String) -> LogFormatError {
    LogFormatError(code, place, message)
  }
}
