// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StorefrontSQLite

extension StoreFolderOptions {
  var folder: StoreFolder { StoreFolder(directory) }
}

extension StoreOptions {
  var account: String { namedAccount ?? "customer" }
  var directory: String { store.directory }
  var folder: StoreFolder { store.folder }

  func validate() throws {
    let isAllowed = account.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard isAllowed, 1...64 ~= account.utf8.count else {
      throw ValidationError("--account takes 1 to 64 letters, digits, dots, hyphens and underscores.")
    }
  }
}
