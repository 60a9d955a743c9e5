// SPDX-License-Identifier: Apache-2.0

internal import TransparencyLog

extension TrailFault: CustomStringConvertible {
  package var description: String { "\(code.rawValue) at \(place): \(message)" }
}

extension [TrailFault] {
  mutating func add(_ code: TrailFault.Code, entry index: UInt64, _ message: String) {
    add(code, index: index, at: "entry \(index)", message)
  }

  /// Verifies a checkpoint; adds a fault and returns `nil` if it is missing or cannot be trusted.
  mutating func verified(
    _ checkpoint: @autoclosure () throws -> [UInt8]?, by chain: @autoclosure () throws -> KeyChain,
    named name: String, orMissing message: String
  ) throws -> VerifiedCheckpoint? {
    do {
      if let bytes = try checkpoint() { return try chain().verify(SignedCheckpoint(parsing: bytes)) }
      add(.checkpoint, at: "checkpoint", message)
    } catch  where !error.isFailureToCheckNote {
      add(.checkpoint, at: "checkpoint", "\(name) cannot be trusted: \(error)")
    }
    return nil
  }

  mutating func add(
    _ code: TrailFault.Code, index: UInt64? = nil, at place: String, _ message: String
  ) {
    append(TrailFault(code, index: index, at: place, message))
  }
}

/// The result of checking a whole trail.
package struct TrailCheckReport: Sendable, Hashable {
  package internal(set) var entryCount: UInt64 = 0
  /// The root hash that was computed from the entries, in base64.
  package internal(set) var rootHash = ""
  /// The number of entries that the newest published checkpoint covers.
  package internal(set) var checkpointSize: UInt64?
  /// `true` if the trail holds the keys of erasable parts. Those parts and the index of customers are checked only with
  /// them.
  package internal(set) var hasKeys = true
  /// `true` if there are rows of a ``TrailReindexing`` that is in progress or was interrupted. They have no effect, and
  /// another reindexing removes them.
  package internal(set) var hasUnfinishedIndex = false
  /// The faults that were found, at most ``maximumFaults``.
  package internal(set) var faults: [TrailFault] = [] {
    didSet { faults.removeLast(max(0, faults.count - Self.maximumFaults)) }
  }

  package static let maximumFaults = 100

  package var isClean: Bool { faults.isEmpty }
}
