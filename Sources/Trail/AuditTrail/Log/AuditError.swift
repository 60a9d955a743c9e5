// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
public import ReceiptBytes
internal import TransparencyLog

/// Why an audit trail could not do what it was asked.
public struct AuditError: PlacedError, Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A record that cannot be entered: it is too large, or says what no entry can say. Nothing was stored.
    case invalidRecord = "invalid-record"
    /// More appends wait than the trail allows. Nothing was stored; try again later or append less at a time.
    case overloaded
    /// Checkpoints could not be published for longer than the operator allows. Nothing was stored; mend the place of the
    /// last checkpoint.
    case checkpointOverdue = "checkpoint-overdue"
    /// The disk is full. Nothing was stored; it may be tried again when there is space.
    case storageFull = "storage-full"
    /// The storage cannot be used now. Nothing was stored, or it is not known: append the same again, which
    /// returns the first index where it was.
    case storageUnavailable = "storage-unavailable"
    /// A write failed in such a way that it is not known what is stored. The trail takes nothing more until it is
    /// opened again; entries that were acknowledged are there.
    case stopped
    /// The trail was closed.
    case closed
    /// There is no trail at this place.
    case notFound = "not-found"
    /// The storage is not an audit trail, or one that this build cannot use.
    case notATrail = "not-a-trail"
    /// There is a trail already.
    case alreadyExists = "already-exists"
    /// The key is not the one that the trail is signed with.
    case wrongKey = "wrong-key"
    /// The private key is needed, and was not given.
    case readOnly = "read-only"
    /// The trail holds no keys of erasable parts, as copies that `audit backup` makes: it is read without them, and
    /// nothing is appended before they are restored.
    case keysMissing = "keys-missing"
    /// No such entry.
    case noSuchEntry = "no-such-entry"
    /// The stored data was altered or damaged.
    case tampered
    /// The trail is older than the last checkpoint that was published: an old copy was put back.
    case rolledBack = "rolled-back"
    /// The trail contradicts a checkpoint that was published: there are two histories.
    case forked
    /// Fewer witnesses cosigned than the policy requires. The entry is stored; ask for its checkpoint again later.
    case notWitnessed = "not-witnessed"
    /// The trail was opened without witnesses, or with too few that can be reached for their policy.
    /// Nothing was stored.
    case noWitnesses = "no-witnesses"
    /// OpenSSL could not check a signature, for instance for want of memory. Nothing follows from that for the trail; try
    /// again.
    case internalFailure = "internal-failure"
  }

  /// The kind of fault.
  public let code: Code
  /// The place: an entry, a table and key, a file.
  public let place: String
  /// A description of the fault and the remedy, on one line.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, at place: String = "", _ message: String) {
    self.code = code
    self.place = place
    self.message = message
  }

  /// The code, the place and the message, on one line.
  public var description: String { line }

  /// The error of the trail for a fault of its storage, or of anything below it.
  package init(_ error: any Error) {
    switch error {
    case let error as AuditError: self = error
    case let error as IndexError: self = error.meaning
    case let error as StorageError: self.init(error.code.meaning, at: error.place, error.message)
    default:
      self.init(error.isFailureToCheckNote ? .internalFailure : .tampered, String(describing: error))
    }
  }
}

extension StorageError.Code {
  fileprivate var meaning: AuditError.Code {
    switch self {
    case .notFound: .notFound
    case .notATrail, .unsupported: .notATrail
    case .full: .storageFull
    case .busy, .unavailable, .inputOutput: .storageUnavailable
    case .syncFailed: .stopped
    case .corrupt: .tampered
    case .closed: .closed
    }
  }
}
