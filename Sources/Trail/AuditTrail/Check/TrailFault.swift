// SPDX-License-Identifier: Apache-2.0

/// Something in a trail that cannot be what was written.
public struct TrailFault: Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The configuration is missing, or not signed by the trail's key.
    case configuration
    /// The head does not go with the entries.
    case head
    /// An entry is not the one that the tree has at its place: it was altered, or put in another's place.
    case alteredEntry = "altered-entry"
    /// An entry is missing.
    case missingEntry = "missing-entry"
    /// The bytes of an entry are not of the format.
    case malformedEntry = "malformed-entry"
    /// An entry does not lead to the one before it of the same original transaction.
    case brokenLine = "broken-line"
    /// An entry is dated before the one in front of it.
    case timeRunsBackwards = "time-runs-backwards"
    /// An entry says again what an earlier one says.
    case repeatedEntry = "repeated-entry"
    /// A statement about the newest entry of an original transaction is wrong.
    case wrongAnchor = "wrong-anchor"
    /// An erasable part is not the one that the entry commits to.
    case alteredErasablePart = "altered-erasable-part"
    /// An erasable part is gone without an entry that says so, or there is such an entry and the part is there.
    case unrecordedErasure = "unrecorded-erasure"
    /// An entry that replaced the trail's key has no proof that the key before it signed it.
    case keySuccession = "key-succession"
    /// The text of a policy is not the one that was kept, or none was.
    case policyText = "policy-text"
    /// The keys of the erasable parts are missing or damaged.
    case erasureKeys = "erasure-keys"
    /// A tile of the tree does not have the hashes of what is below it.
    case alteredTile = "altered-tile"
    /// A row that has no place in a trail.
    case strayRow = "stray-row"
    /// A checkpoint that is missing, not signed by the trail's key, or contradicted by the entries.
    case checkpoint
    /// The trail has fewer entries than a checkpoint that was published.
    case rolledBack = "rolled-back"
    /// The index does not have the records of the entries.
    case index
    /// The storage's own structure is damaged.
    case storage
  }

  /// The kind of fault.
  public let code: Code
  /// The entry that it concerns, or the first of several.
  public let index: UInt64?
  /// The place: an entry, a tile, a row.
  public let place: String
  /// A description of the fault, on one line.
  public let message: String

  init(_ code: Code, entry index: UInt64, _ message: String) {
    self.init(code, index: index, at: "entry \(index)", message)
  }

  init(_ code: Code, index: UInt64? = nil, at place: String, _ message: String) {
    self.code = code
    self.index = index
    self.place = place
    self.message = message
  }

  /// Code, place and message on one line.
  public var description: String { "\(code.rawValue) at \(place): \(message)" }
}

/// The result of a check of a whole trail.
public struct TrailCheckReport: Sendable, Hashable {
  /// The entries that were checked.
  public internal(set) var entryCount: UInt64 = 0
  /// The root computed from the entries.
  public internal(set) var rootHash = ""
  /// The entries that the newest published checkpoint covers.
  public internal(set) var checkpointSize: UInt64?
  /// Indicates whether the trail holds keys of erasable parts: those parts and the index of customers are only checked
  /// with them.
  public internal(set) var hasKeys = true
  /// Indicates whether there are rows of a ``TrailReindexing`` that is under way or was cut off. They mean nothing, and
  /// another one removes them.
  public internal(set) var hasUnfinishedIndex = false
  /// The faults; the first ``maximumFaults``.
  public internal(set) var faults: [TrailFault] = []

  /// Faults beyond this number are not listed.
  public static let maximumFaults = 100

  /// Indicates whether nothing is wrong.
  public var isClean: Bool { faults.isEmpty }

  mutating func add(_ found: some Sequence<TrailFault>) {
    for fault in found where faults.count < Self.maximumFaults { faults.append(fault) }
  }
}
