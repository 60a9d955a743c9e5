// SPDX-License-Identifier: Apache-2.0

import Storefront
import Testing

@Suite struct CatalogByteOrderMarkTests {
  @Test("a byte order mark in front of a catalogue is skipped")
  func mark() throws {
    let plain = try CatalogSamples.catalog
    #expect(try ProductCatalog(json: Array("\u{FEFF}\(CatalogSamples.json)".utf8)) == plain)
    #expect(throws: CatalogError.self) {
      try ProductCatalog(json: Array("\u{FEFF}\u{FEFF}\(CatalogSamples.json)".utf8))
    }
  }
}
