// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
public import ReceiptBytes
internal import TransparencyLog

/// An error that explains why an operation of an audit trail failed.
public struct AuditError: PlacedError, Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of an error.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A record cannot be entered: it is too large, or states something that no entry can express.
    ///
    /// Nothing was stored.
    case invalidRecord = "invalid-record"
    /// More appends are waiting than the trail allows.
    ///
    /// Nothing was stored; try again later, or append less at a time.
    case overloaded
    /// Checkpoints could not be published for longer than the operator allows.
    ///
    /// Nothing was stored; repair the store of the last checkpoint.
    case checkpointOverdue = "checkpoint-overdue"
    /// The disk is full.
    ///
    /// Nothing was stored; try again when there is space.
    case storageFull = "storage-full"
    /// The storage is unavailable now.
    ///
    /// Nothing was stored, or it is unknown if it was: append the same records again, which returns the first index if
    /// they were stored.
    case storageUnavailable = "storage-unavailable"
    /// A write failed, and it is unknown what is stored.
    ///
    /// The trail accepts nothing more until it is opened again. Acknowledged entries are not lost.
    case stopped
    /// The trail was closed.
    case closed
    /// There is no trail at this place.
    case notFound = "not-found"
    /// The storage does not contain an audit trail, or contains one that this build cannot use.
    case notATrail = "not-a-trail"
    /// There is a trail already.
    case alreadyExists = "already-exists"
    /// The key is not the one that signs the trail.
    case wrongKey = "wrong-key"
    /// The operation needs the private key, which was not given.
    case readOnly = "read-only"
    /// The trail holds no keys of erasable parts, like a copy that `audit backup` makes.
    ///
    /// It can be read without them, but nothing can be appended before they are restored.
    case keysMissing = "keys-missing"
    /// There is no such entry.
    case noSuchEntry = "no-such-entry"
    /// The stored data is not what was written: it was altered or damaged.
    case tampered
    /// The trail is older than the last published checkpoint: an old copy was put back.
    case rolledBack = "rolled-back"
    /// The trail contradicts a published checkpoint: there are two histories.
    case forked
    /// Fewer witnesses cosigned than the policy requires.
    ///
    /// The entry is stored; ask for its checkpoint again later.
    case notWitnessed = "not-witnessed"
    /// The trail was opened without witnesses, or too few of them can be reached to satisfy their policy.
    ///
    /// Nothing was stored.
    case noWitnesses = "no-witnesses"
    /// OpenSSL could not check a signature, for example because there was too little memory.
    ///
    /// This says nothing about the trail; try again.
    case internalFailure = "internal-failure"
  }

  /// The kind of the error.
  public let code: Code
  /// The place of the error: an entry, a table and key, or a file.
  public let place: String
  /// A description of the error and of its remedy, on one line.
  public let message: String

  package init(_ code: Code, at place: String = "", _ message: String) {
    self.code = code
    self.place = place
    self.message = message
  }

  /// The code, the place and the message, on one line.
  public var description: String { line }

  /// Converts an error of the storage, or of anything else below the trail, to its meaning for users of the trail.
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
