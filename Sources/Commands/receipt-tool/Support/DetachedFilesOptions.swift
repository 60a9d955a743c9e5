// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import ReceiptCodec

extension DetachedFilesOptions {
  var isGiven: Bool { dataFile != nil }

  /// Checks that the options are compatible with a command's paths and other options.
  func validate(paths: [String], _ others: KeyValuePairs<String, Bool> = [:]) throws {
    try refuse(
      ["--signature": signatureFile != nil, "--signature-algorithm": algorithm != nil], unless: isGiven,
      "needs --data")
    guard isGiven else {
      guard !paths.isEmpty else { throw ValidationError("Name at least one file, or - for standard input.") }
      return
    }
    guard signatureFile != nil else { throw ValidationError("--data needs --signature.") }
    guard paths.isEmpty else {
      throw ValidationError("--data takes the place of a path: leave out \(paths.joined(separator: " ")).")
    }
    guard dataFile != "-" || signatureFile != "-" else {
      throw ValidationError("Standard input cannot be both --data and --signature.")
    }
    try refuse(others, unless: false, "reads receipts from a path, not from --data")
  }

  /// The JSON object with the contents of both files; `nil` without the options.
  ///
  /// - Throws: An exit code if a file cannot be read.
  func receipt(limit: Int) throws -> (name: String, bytes: [UInt8])? {
    guard let dataFile, let signatureFile else { return nil }
    let data = try InputFile.contents(of: dataFile, limit: limit)
    let signature = try InputFile.contents(of: signatureFile, limit: 1 << 20)
    let object = JSONWriter.bytes {
      $0.member("data", String(decoding: data, as: UTF8.self))
      $0.member("signature", String(decoding: ReceiptText.trimming(signature), as: UTF8.self))
      $0.member("signatureAlgorithm", algorithm)
    }
    return (dataFile, object)
  }
}
