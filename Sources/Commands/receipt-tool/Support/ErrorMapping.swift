// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptBytes
import ReceiptCodec
import ReceiptHTTP
import ReceiptSigning
import SQLite
import Storefront
import TransparencyLog

// The exit code of every error that a command may throw. An error that has no code here ends the command with that of an
// internal fault: never with 1, which says that something was checked and is not as it should be.
extension ToolExit {
  /// The error to throw: an exit code, after the sentence was written to standard error.
  ///
  /// - Parameters:
  ///   - error: What was thrown.
  ///   - name: What the command worked on; `nil` if the error says so itself.
  /// - Returns: The exit code; errors of the command line, and those without a code, as they are.
  static func failure(for error: any Error, _ name: String? = nil) -> any Error {
    guard let (code, message, own) = description(of: error) else { return error }
    return failure(code, name.map { "\($0): \(message)" } ?? message, code: own)
  }

  /// The exit code, the sentence and the error's own code; `nil` if the error has none.
  private static func description(of error: any Error) -> (ExitCode, message: String, code: String?)? {
    switch error {
    case let error as AuditError: (code(for: error.code), error.description, error.code.rawValue)
    case let error as StorageError: (code(for: error.code), error.description, error.code.rawValue)
    case let error as SQLiteError: (code(for: error.code), "\(error.place): \(error.message)", nil)
    case let error as SystemError: (inputOutput, error.reason, nil)
    case let error as ReadFailure: (unreadableInput, error.description, nil)
    case let error as MalformedReceipt: (unreadableInput, error.description, error.code.rawValue)
    case let error as LogFormatError: (unreadableInput, error.description, error.code.rawValue)
    case let error as NoteError:
      (error.code == .internalFailure ? internalFault : invalid, error.description, error.code.rawValue)
    case let error as SigningError: (code(for: error), error.description, error.code.rawValue)
    case let error as HTTPTransportError: (undetermined, error.description, nil)
    case let error as LocalStoreError: (code(for: error.code), error.description, error.code.rawValue)
    case let error as RecordStorageError: (code(for: error.code), error.description, error.code.rawValue)
    case let error as PaymentQueueError:
      error.storageError.flatMap { description(of: $0) } ?? (invalid, error.description, error.code.rawValue)
    case let error as StoreError: (invalid, error.description, nil)
    default: nil
    }
  }

  static func code(for code: AuditError.Code) -> ExitCode {
    switch code {
    case .tampered, .rolledBack, .forked, .noSuchEntry: invalid
    case .overloaded, .storageUnavailable, .notWitnessed: undetermined
    case .notFound, .notATrail, .wrongKey, .readOnly, .invalidRecord, .noWitnesses, .keysMissing:
      unreadableInput
    case .alreadyExists: cannotCreate
    case .storageFull, .stopped, .closed, .checkpointOverdue: inputOutput
    case .internalFailure: internalFault
    }
  }

  static func code(for code: StorageError.Code) -> ExitCode {
    switch code {
    case .notFound, .notATrail, .unsupported: unreadableInput
    case .busy, .unavailable: undetermined
    case .corrupt: invalid
    case .full, .inputOutput, .syncFailed, .closed: inputOutput
    }
  }

  /// Errors that no storage gave a code of its own.
  private static func code(for code: SQLiteError.Code) -> ExitCode {
    switch code {
    case .notFound, .occupied, .corrupt, .unsupported: unreadableInput
    case .full, .busy, .inputOutput, .syncFailed, .closed: inputOutput
    }
  }

  private static func code(for code: LocalStoreError.Code) -> ExitCode {
    switch code {
    case .notFound, .refused: invalid
    case .storage: inputOutput
    case .corrupt, .signing, .invalidOption: unreadableInput
    }
  }

  private static func code(for code: RecordStorageError.Code) -> ExitCode {
    switch code {
    case .notFound, .notAStorage, .corrupt, .unsupported: unreadableInput
    case .full, .busy, .inputOutput, .syncFailed, .closed: inputOutput
    }
  }
}
