// SPDX-License-Identifier: Apache-2.0

import Storefront
import Testing

@Suite struct SubscriptionPeriodTests {
  @Test(arguments: ["P3D", "P1W", "P2W", "P1M", "P2M", "P3M", "P6M", "P9M", "P1Y", "P999D"])
  func isWrittenAsItWasRead(_ text: String) { #expect(SubscriptionPeriod(text)?.description == text) }

  @Test(arguments: [
    "", "P", "PM", "P0M", "P01M", "P1000D", "P-1M", "P1H", "PT1H", "1M", "P1M ", "P1", "p1m", "P٣M",
  ])
  func anythingElseIsRefused(_ text: String) { #expect(SubscriptionPeriod(text) == nil) }
}
