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

/// The definitions in the lines of a policy that were parsed so far.
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

  mutating func add(_ line: ArraySlice<UInt8>, _ place: LogFormatError.Place) throws(LogFormatError) {
    guard line.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else {
      throw LogFormatError(.controlCharacter, place, "a control character other than tab and newline")
    }
    let items = line.split { $0 == ASCII.space || $0 == 0x09 }
    guard let keyword = items.first, keyword.first != UInt8(ascii: "#") else { return }
    switch String(decoding: keyword, as: UTF8.self) {
    case "log": try addLog(items, place)
    case "witness": try addWitness(items, place)
    case "group": try addGroup(items, place)
    case "quorum": try addQuorum(items, place)
    default:
      throw LogFormatError(.unexpectedLine, place, "expected \"log\", \"witness\", \"group\" or \"quorum\"")
    }
  }

  private mutating func addLog(
    _ items: [ArraySlice<UInt8>], _ place: LogFormatError.Place
  ) throws(LogFormatError) {
    guard (2...3).contains(items.count) else {
      throw LogFormatError(.unexpectedLine, place, "expected \"log VKEY [URL]\"")
    }
    let key = try Self.key(items[1], .ed25519, place)
    guard logKeys.insert(key.publicKey.rawRepresentation).inserted else {
      throw LogFormatError(.duplicate, place, "a log with this key is listed before")
    }
    logs.append(WitnessPolicy.Log(key: key, url: items.count == 3 ? Array(items[2]) : nil))
  }

  private mutating func addWitness(
    _ items: [ArraySlice<UInt8>], _ place: LogFormatError.Place
  ) throws(LogFormatError) {
    guard (3...4).contains(items.count) else {
      throw LogFormatError(.unexpectedLine, place, "expected \"witness NAME VKEY [URL]\"")
    }
    let key = try Self.key(items[2], .cosignature, place)
    guard witnessKeys.insert(key.publicKey.rawRepresentation).inserted else {
      throw LogFormatError(.duplicate, place, "a witness with this key is listed before")
    }
    let name = try define(items[1], place)
    witnesses.append(
      WitnessPolicy.Witness(name: name, key: key, url: items.count == 4 ? Array(items[3]) : nil))
  }

  private mutating func addGroup(
    _ items: [ArraySlice<UInt8>], _ place: LogFormatError.Place
  ) throws(LogFormatError) {
    guard items.count >= 4 else {
      throw LogFormatError(.unexpectedLine, place, "expected \"group NAME all|any|NUMBER MEMBER…\"")
    }
    let names = items[3...].map { Array($0) }
    for name in names {
      try checkDefined(name, place)
      guard members.insert(name).inserted else {
        throw LogFormatError(.duplicate, place, "a name is a member once, of one group")
      }
    }
    let threshold: Int
    switch String(decoding: items[2], as: UTF8.self) {
    case "all": threshold = names.count
    case "any": threshold = 1
    default:
      guard let number = ASCII.decimal(items[2]), number >= 1, number <= names.count else {
        throw LogFormatError(
          .malformedNumber, place, "expected \"all\", \"any\" or a number from 1 to \(names.count)")
      }
      threshold = Int(number)
    }
    // Defined last, so that a group cannot be its own member.
    let name = try define(items[1], place)
    groups.append(WitnessPolicy.Group(name: name, threshold: threshold, members: names))
  }

  private mutating func addQuorum(
    _ items: [ArraySlice<UInt8>], _ place: LogFormatError.Place
  ) throws(LogFormatError) {
    guard items.count == 2 else {
      throw LogFormatError(.unexpectedLine, place, "expected \"quorum NAME\" or \"quorum none\"")
    }
    guard quorum == nil else {
      throw LogFormatError(.duplicate, place, "a policy has one \"quorum\" line")
    }
    let name = Array(items[1])
    if name != Self.none { try checkDefined(name, place) }
    quorum = name
  }

  private mutating func define(
    _ name: ArraySlice<UInt8>, _ place: LogFormatError.Place
  ) throws(LogFormatError) -> [UInt8] {
    let name = Array(name)
    guard names.insert(name).inserted else {
      throw LogFormatError(.duplicate, place, "the name is taken")
    }
    return name
  }

  private func checkDefined(_ name: [UInt8], _ place: LogFormatError.Place) throws(LogFormatError) {
    guard name != Self.none, names.contains(name) else {
      throw LogFormatError(.undefinedName, place, "no line before defines this witness or group")
    }
  }

  private static func key(
    _ text: ArraySlice<UInt8>, _ kind: NoteVerifierKey.Kind, _ place: LogFormatError.Place
  ) throws(LogFormatError) -> NoteVerifierKey {
    let key = try NoteVerifierKey(text, place)
    guard key.kind == kind else {
      throw LogFormatError(
        .unsupportedKeyType, place, "expected a key of type \(kind.rawValue), found \(key.kind.rawValue)")
    }
    return key
  }
}
