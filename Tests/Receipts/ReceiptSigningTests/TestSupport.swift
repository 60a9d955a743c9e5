// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// 2025-10-01T00:00:00Z.
let testStart = Timestamp(secondsSince1970: 1_759_276_800)

/// Identities that tests share: making RSA keys takes a while.
enum TestIdentities {
  static let es256 = Result { () throws(SigningError) in
    try SigningIdentity.create(.init(organization: "Test Store", algorithm: .es256, start: testStart))
  }
  static let rsa = Result { () throws(SigningError) in
    try SigningIdentity.create(.init(organization: "Test Store", algorithm: .rsa2048, start: testStart))
  }
}

/// A directory that is there for one test.
func withTemporaryDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
  let name = Random.bytes(8).map { String($0, radix: 16) }.joined()
  let path = "/tmp/receipt-signing-tests-\(name)"
  try #require(unsafe mkdir(path, 0o700) == 0)
  defer { removeTree(path) }
  return try body(path)
}

private func removeTree(_ path: String) {
  if let directory = unsafe opendir(path) {
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { removeTree("\(path)/\(name)") }
    }
    _ = unsafe closedir(directory)
    _ = unsafe rmdir(path)
  } else {
    _ = unsafe unlink(path)
  }
}

/// Permission bits of a file; `nil` if the file does not exist.
func permissions(_ path: String) -> UInt32? {
  var status = stat()
  guard unsafe stat(path, &status) == 0 else { return nil }
  return UInt32(status.st_mode) & 0o7777
}

func contents(_ path: String) throws -> [UInt8] {
  guard let file = unsafe fopen(path, "rb") else { throw SigningError(.unreadableFile, at: path, "") }
  defer { _ = unsafe fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 1 << 20)
  let capacity = bytes.count
  let count = unsafe fread(&bytes, 1, capacity, file)
  return Array(bytes[..<count])
}

func write(_ bytes: [UInt8], to path: String) throws {
  guard let file = unsafe fopen(path, "wb") else { throw SigningError(.unwritableFile, at: path, "") }
  defer { _ = unsafe fclose(file) }
  try #require(unsafe fwrite(bytes, 1, bytes.count, file) == bytes.count)
}

/// The error that a call throws, to compare code and place.
func signingError<Result>(_ body: () throws(SigningError) -> Result) -> SigningError? {
  do throws(SigningError) {
    _ = try body()
    return nil
  } catch {
    return error
  }
}

extension Base64URL {
  static func decode(_ text: Substring) throws -> [UInt8] { try decode(Array(text.utf8)) }
}
