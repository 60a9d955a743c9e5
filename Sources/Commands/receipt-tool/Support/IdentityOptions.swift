// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import ReceiptSigning

extension PassphraseOptions {
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
      throw ToolExit.failure(.usage, "give --passphrase-file or --passphrase-env, not both")
    }
  }
}

extension IdentityOptions {
  func validate() throws {
    let isDirectory = directory != nil && keyFile == nil && chainFile == nil
    let isFiles = directory == nil && keyFile != nil
    guard isDirectory || isFiles else {
      throw ValidationError("Give --identity DIR, or --key FILE with --chain FILE.")
    }
  }

  /// Requires certificates for Apple's kinds of receipts. An app's key has no certificates.
  func requireChain(isNeeded: Bool) throws {
    guard directory == nil else { return }
    if isNeeded, chainFile == nil {
      throw ValidationError("Give --identity DIR, or --key FILE with --chain FILE.")
    }
    try refuse(
      ["--chain": chainFile != nil], unless: isNeeded, "makes no sense with this --format, which has none")
  }

  func load(passphrase: [UInt8]?) throws -> SigningIdentity {
    if let directory {
      CommandInputs.add(identity: directory)
      do throws(SigningError) {
        return try IdentityDirectory(directory).load(passphrase: passphrase) { note("receipt-tool: \($0)") }
      } catch {
        throw ToolExit.failure(for: error, GivenValue.described(directory))
      }
    }
    let key = try InputFile.contents(of: keyFile ?? "")
    guard let chainFile else {
      return SigningIdentity(appKey: try SigningIdentity.privateKey(inFile: key, passphrase: passphrase))
    }
    let chain = try InputFile.contents(of: chainFile)
    return try SigningIdentity(keyFile: key, chainFile: chain, passphrase: passphrase)
  }
}
