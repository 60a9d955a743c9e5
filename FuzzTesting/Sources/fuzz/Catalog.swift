// SPDX-License-Identifier: Apache-2.0

import Storefront

/// Fuzzes the files that an app and its store read: catalogues in our own format, Xcode's `.storekit` files, lists of
/// product identifiers. A file that is read is valid, and a catalogue that is written again says the same. An error
/// names a place in the file.
func fuzzCatalog(_ bytes: [UInt8]) {
  do throws(CatalogError) {
    check(try ProductCatalog(json: bytes))
  } catch {
    check(error, in: bytes)
  }
  do throws(CatalogError) {
    _ = try? ProductCatalog.offerKeys(storeKitConfiguration: bytes)
    check(try ProductCatalog(storeKitConfiguration: bytes))
  } catch {
    check(error, in: bytes)
  }
  for list in [try? ProductIdentifierList(json: bytes), try? ProductIdentifierList(propertyList: bytes)] {
    guard let list else { continue }
    let again = mustSucceed("the list that was read is not valid") {
      try ProductIdentifierList(list.identifiers)
    }
    require(again.identifiers == list.identifiers, "the list changed")
    require(again.duplicates.isEmpty, "the list has something twice")
  }
}

private func check(_ catalog: ProductCatalog) {
  let written = mustSucceed("what was read is not valid") { try catalog.encodedJSON() }
  let again = mustSucceed("what was written does not parse") { try ProductCatalog(json: written) }
  require(again == catalog, "the catalogue changed")
  let twice = mustSucceed("what was read again is not valid") { try again.encodedJSON() }
  require(twice == written, "writing twice gives two texts")
}

private func check(_ error: CatalogError, in bytes: [UInt8]) {
  require(error.path.hasPrefix("$"), "the place is no path")
  if let offset = error.byteOffset { require(0...bytes.count ~= offset, "the place lies outside") }
}
