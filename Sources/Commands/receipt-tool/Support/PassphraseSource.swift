// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import ReceiptBytes
import ReceiptSigning

/// Options that say where a passphrase comes from.
protocol PassphraseSource {
  var file: String? { get }
  var variable: String? { get }
  static var names: (file: String, variable: String) { get }
}

extension PassphraseOptions: PassphraseSource {
  static let names = (file: "--passphrase-file", variable: "--passphrase-env")
}

extension AuthorityPassphraseOptions: PassphraseSource {
  static let names = (file: "--authority-passphrase-file", variable: "--authority-passphrase-env")

  /// The passphrase from the options, or from a person.
  func passphraseOrAnswer() throws -> [UInt8]? {
    try passphrase() ?? Terminal.askSecret("Passphrase of the authority")
  }

  /// The same for keys that are about to be encrypted.
  ///
  /// - Throws: Exit code 64 without a passphrase.
  func newPassphrase() throws -> [UInt8] {
    let given = try passphrase() ?? Terminal.askNewSecret("Passphrase for the authority's keys")
    guard let given else {
      throw ToolExit.failure(
        .usage,
        "an authority's keys are encrypted: give --authority-passphrase-file or --authority-passphrase-env",
        code: SigningError.Code.passphraseRequired.rawValue)
    }
    return given
  }
}

extension PassphraseSource {
  /// The passphrase; `nil` if none is given.
  func passphrase() throws -> [UInt8]? {
    switch (file, variable) {
    case (nil, nil): return nil
    case (let file?, nil): return Passphrase.trimmingLineEnd(try InputFile.contents(of: file, limit: 1 << 16))
    case (nil, let variable?):
      guard let value = unsafe getenv(variable) else {
        throw ToolExit.failure(.usage, "the environment variable \(variable) is not set")
      }
      // Keep the bytes unchanged: a String would replace bytes that are not UTF-8.
      return unsafe Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
    case (.some, .some):
      throw ToolExit.failure(.usage, "give \(Self.names.file) or \(Self.names.variable), not both")
    }
  }
}
