// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import TransparencyLog

extension AuditError: CustomStringConvertible {
  /// The code, the place and the message, on one line.
  public var description: String { line }

  /// Converts an error of the storage, or of anything else below the trail, to its meaning for users of the trail.
  package init(_ error: any Error) {
    switch error {
    case let error as AuditError: self = error
    case let error as IndexError: self.init(error.code.meaning, at: error.place, error.message)
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

extension IndexError.Code {
  fileprivate var meaning: AuditError.Code {
    switch self {
    case .corrupt: .tampered
    case .unsupported: .notATrail
    case .outOfRoom: .storageFull
    }
  }
}
