// SPDX-License-Identifier: Apache-2.0

import StoreTesting
import Testing

@Test(.appStore())
func aPurchaseIsGenuine() async throws {
  let store = try TestAppStore.current
  let sale = try await store.buy("com.example.app.monthly", by: "alice")
  #expect(store.verifier.verify(sale.receipt).receipt != nil)
}
