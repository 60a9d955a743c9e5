// SPDX-License-Identifier: Apache-2.0

/// A fault of a trail: stored data that cannot be what was written.
package struct TrailFault: Sendable, Hashable, CustomStringConvertible {
  /// The kind of a fault.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// The configuration is missing, or not signed by the trail's key.
    case configuration
    /// The head does not match the entries.
    case head
    /// An entry is not the one that the tree has at its place: it was altered, or moved to another place.
    case alteredEntry = "altered-entry"
    /// An entry is missing.
    case missingEntry = "missing-entry"
    /// The bytes of an entry are not of the format.
    case malformedEntry = "malformed-entry"
    /// An entry does not refer to the entry before it of the same original transaction.
    case brokenLine = "broken-line"
    /// An entry is dated before the preceding one.
    case timeRunsBackwards = "time-runs-backwards"
    /// A statement about the newest entry of an original transaction is wrong.
    case wrongAnchor = "wrong-anchor"
    /// An erasable part is not the one that the entry commits to.
    case alteredErasablePart = "altered-erasable-part"
    /// An erasable part is gone without an entry that records its erasure, or there is such an entry and the part
    /// exists.
    case unrecordedErasure = "unrecorded-erasure"
    /// An entry that replaced the trail's key has no proof that the previous key signed it.
    case keySuccession = "key-succession"
    /// The text of a policy is not the one that was kept, or is missing.
    case policyText = "policy-text"
    /// The keys of the erasable parts are missing or damaged.
    case erasureKeys = "erasure-keys"
    /// A tile of the tree does not have the hashes of the nodes below it.
    case alteredTile = "altered-tile"
    /// A row does not belong to the trail.
    case strayRow = "stray-row"
    /// A checkpoint is missing, not signed by the trail's key, or contradicted by the entries.
    case checkpoint
    /// The trail has fewer entries than a checkpoint that was published.
    case rolledBack = "rolled-back"
    /// The index does not have the records of the entries.
    case index
    /// The storage's own structure is damaged.
    case storage
  }

  /// The kind of fault.
  package let code: Code
  /// The entry that the fault concerns, or the first of several.
  package let index: UInt64?
  /// The place of the fault: an entry, a tile or a row.
  package let place: String
  /// A description of the fault, on one line.
  package let message: String

  init(_ code: Code, entry index: UInt64, _ message: String) {
    self.init(code, index: index, at: "entry \(index)", message)
  }

  init(_ code: Code, index: UInt64? = nil, at place: String, _ message: String) {
    self.code = code
    self.index = index
    self.place = place
    self.message = message
  }

  /// The code, the place and the message, on one line.
  package var description: String { "\(code.rawValue) at \(place): \(message)" }
}

/// The result of checking a whole trail.
package struct TrailCheckReport: Sendable, Hashable {
  /// The number of entries that were checked.
  package internal(set) var entryCount: UInt64 = 0
  /// The root hash that was computed from the entries, in base64.
  package internal(set) var rootHash = ""
  /// The number of entries that the newest published checkpoint covers.
  package internal(set) var checkpointSize: UInt64?
  /// `true` if the trail holds the keys of erasable parts.
  ///
  /// Those parts and the index of customers are checked only with them.
  package internal(set) var hasKeys = true
  /// `true` if there are rows of a ``TrailReindexing`` that is in progress or was interrupted.
  ///
  /// They have no effect, and another reindexing removes them.
  package internal(set) var hasUnfinishedIndex = false
  /// The faults that were found, at most ``maximumFaults``.
  package internal(set) var faults: [TrailFault] = []

  /// The maximum number of faults that are listed.
  package static let maximumFaults = 100

  /// `true` if no fault was found.
  package var isClean: Bool { faults.isEmpty }

  mutating func add(_ found: some Sequence<TrailFault>) {
    for fault in found where faults.count < Self.maximumFaults { faults.append(fault) }
  }
}
