// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import TransparencyLog

/// What is wrong with the files of a log.
struct TileRefusal: Error, CustomStringConvertible {
  let reason: String
  let description: String
}

extension ConformanceAnswer {
  /// The checkpoint of a log whose files are all as it says.
  static func tiles(_ input: JSONValue) throws -> JSONValue {
    let keys = try keys(input, "keys")
    guard let files = input["files"]?.object else { throw MalformedReceipt.missing("files") }
    guard input["files"]?["checkpoint"] != nil else {
      throw TileRefusal(reason: "missing", description: "there is no checkpoint")
    }
    let signed = try SignedCheckpoint(parsing: JSONValue.object(files).base64("checkpoint"))
    let verified = try signed.verified(by: key(of: signed, among: keys), origin: input["origin"]?.string)
    let folder = try ConformanceFolder()
    defer { folder.remove() }
    for file in files where isTile(file.name) || file.name == "checkpoint" {
      let path = "\(folder.path)/\(file.name)"
      try FileSystem.makeDirectories(FileSystem.directory(of: path))
      try File(path, .replacing, permissions: 0o600).write(try JSONValue.object(files).base64(file.name))
    }
    let report = try TileDirectoryChecker(
      directory: TileDirectory(path: folder.path), verifier: verified.logKey, hasTrailEntries: false
    ).check()
    if let fault = report.faults.first {
      throw TileRefusal(reason: reason(of: fault, among: files), description: fault.description)
    }
    return .members(members(of: verified))
  }

  private static func isTile(_ name: String) -> Bool {
    TileCoordinates(path: name) != nil || TileCoordinates(entryBundlePath: name) != nil
  }

  private static func reason(of fault: TrailFault, among files: [JSONMember]) -> String {
    switch fault.code {
    case .checkpoint: "wrong-root"
    case .missingEntry, .alteredTile: files.contains { $0.name == fault.place } ? "altered" : "missing"
    default: "altered"
    }
  }
}
