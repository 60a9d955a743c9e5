// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import CommandOutput
import ReceiptBytes
import ReceiptCodec
import ReceiptHTTP
import ReceiptSigning
import SQLite
import Storefront
import TransparencyLog

// The exit code of every error that a command may throw. An error without one ends the command with the code of an
// internal fault, and never with 1, which means that a check failed.
extension ToolExit {
  /// Writes the error to standard error, and returns the exit code to throw.
  static func failure(for error: any Error, _ name: String? = nil) -> any Error {
    guard let (code, message, own) = description(of: error) else { return error }
    return failure(code, name.map { "\($0): \(message)" } ?? message, code: own)
  }

  /// The exit code, the message and the error's own code; `nil` if the error has no exit code.
  private static func description(of error: any Error) -> (ExitCode, message: String, code: String?)? {
    switch error {
    case let error as AuditError: (code(for: error.code), error.description, error.code.rawValue)
    case let error as StorageError: (code(for: error.code), error.description, error.code.rawValue)
    case let error as SQLiteError: (code(for: error.code), "\(error.place): \(error.message)", nil)
    case let error as SystemError: (.inputOutput, error.reason, nil)
    case let error as ReadFailure: (.unreadableInput, error.description, nil)
    case let error as MalformedReceipt: (.unreadableInput, error.description, error.code.rawValue)
    case let error as LogFormatError: (.unreadableInput, error.description, error.code.rawValue)
    case let error as NoteError:
      (error.code == .internalFailure ? .internalFault : .invalid, error.description, error.code.rawValue)
    case let error as SigningError: (code(for: error), error.description, error.code.rawValue)
    case let error as HTTPTransportError: (.undetermined, error.description, nil)
    case let error as LocalStoreError: (code(for: error.code), error.description, error.code.rawValue)
    case let error as RecordStorageError: (code(for: error.code), error.description, error.code.rawValue)
    case let error as PaymentQueueError:
      error.storageError.flatMap { description(of: $0) } ?? (.invalid, error.description, error.code.rawValue)
    case let error as StoreError: (.invalid, error.description, nil)
    default: nil
    }
  }

  static func code(for code: AuditError.Code) -> ExitCode {
    switch code {
    case .tampered, .rolledBack, .forked, .noSuchEntry: .invalid
    case .overloaded, .storageUnavailable, .notWitnessed: .undetermined
    case .notFound, .notATrail, .wrongKey, .readOnly, .invalidRecord, .noWitnesses, .keysMissing:
      .unreadableInput
    case .alreadyExists: .cannotCreate
    case .storageFull, .stopped, .closed, .checkpointOverdue: .inputOutput
    case .internalFailure: .internalFault
    }
  }

  static func code(for code: StorageError.Code) -> ExitCode {
    switch code {
    case .notFound, .notATrail, .unsupported: .unreadableInput
    case .busy, .unavailable: .undetermined
    case .corrupt: .invalid
    case .full, .inputOutput, .syncFailed, .closed: .inputOutput
    }
  }

  /// The exit code of a SQLite error that no storage has translated to its own.
  private static func code(for code: SQLiteError.Code) -> ExitCode {
    switch code {
    case .notFound, .moved, .occupied, .corrupt, .unsupported: .unreadableInput
    case .full, .busy, .inputOutput, .syncFailed, .closed: .inputOutput
    }
  }

  static func code(for error: SigningError) -> ExitCode { ExitCode(ExitStatus(of: error).rawValue) }

  private static func code(for code: LocalStoreError.Code) -> ExitCode {
    switch code {
    case .notFound, .refused: .invalid
    case .storage: .inputOutput
    case .corrupt, .signing, .invalidOption: .unreadableInput
    }
  }

  private static func code(for code: RecordStorageError.Code) -> ExitCode {
    switch code {
    case .notFound, .notAStorage, .corrupt, .unsupported: .unreadableInput
    case .full, .busy, .inputOutput, .syncFailed, .closed: .inputOutput
    }
  }
}
