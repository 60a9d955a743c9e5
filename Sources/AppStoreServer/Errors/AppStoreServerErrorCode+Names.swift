// SPDX-License-Identifier: Apache-2.0

/// Valid requests that were refused, and failures of the App Store.
extension AppStoreServerErrorCode {
  /// `4030004`: The subscription is not eligible for an extension.
  public static let subscriptionExtensionIneligible = AppStoreServerErrorCode(rawValue: 4_030_004)
  /// `4030005`: The subscription was extended as often as is allowed.
  public static let subscriptionMaximumExtensionsReached = AppStoreServerErrorCode(rawValue: 4_030_005)
  /// `4030007`: Subscriptions that were shared in a family cannot be extended.
  public static let familySharedExtensionIneligible = AppStoreServerErrorCode(rawValue: 4_030_007)
  /// `4030014`: There are as many images as is allowed.
  public static let tooManyImages = AppStoreServerErrorCode(rawValue: 4_030_014)
  /// `4030016`: There are as many messages as is allowed.
  public static let tooManyMessages = AppStoreServerErrorCode(rawValue: 4_030_016)
  /// `4030017`: The message is not approved.
  public static let messageNotApproved = AppStoreServerErrorCode(rawValue: 4_030_017)
  /// `4030018`: The image is not approved.
  public static let imageNotApproved = AppStoreServerErrorCode(rawValue: 4_030_018)
  /// `4030019`: The image is in use.
  public static let imageInUse = AppStoreServerErrorCode(rawValue: 4_030_019)
  /// `4030026`: The realtime URL has passed no performance test.
  public static let noPassingPerformanceTest = AppStoreServerErrorCode(rawValue: 4_030_026)
  /// `4030028`: Subscriptions that were assigned by an organization cannot be extended.
  public static let assignedExtensionIneligible = AppStoreServerErrorCode(rawValue: 4_030_028)
  /// `4040001`: The customer was not found.
  public static let accountNotFound = AppStoreServerErrorCode(rawValue: 4_040_001)
  /// `4040002`: The customer was not found; asking again may help.
  public static let accountNotFoundRetryable = AppStoreServerErrorCode(rawValue: 4_040_002)
  /// `4040003`: The app was not found.
  public static let appNotFound = AppStoreServerErrorCode(rawValue: 4_040_003)
  /// `4040004`: The app was not found; asking again may help.
  public static let appNotFoundRetryable = AppStoreServerErrorCode(rawValue: 4_040_004)
  /// `4040005`: The original transaction was not found.
  public static let originalTransactionIdNotFound = AppStoreServerErrorCode(rawValue: 4_040_005)
  /// `4040006`: The original transaction was not found; asking again may help.
  public static let originalTransactionIdNotFoundRetryable = AppStoreServerErrorCode(rawValue: 4_040_006)
  /// `4040007`: The app has no URL for notifications in this environment.
  public static let serverNotificationURLNotFound = AppStoreServerErrorCode(rawValue: 4_040_007)
  /// `4040008`: The test notification was not found: its token expired, or it was not sent yet.
  public static let testNotificationNotFound = AppStoreServerErrorCode(rawValue: 4_040_008)
  /// `4040009`: There is no mass extension of this identifier and product.
  public static let statusRequestNotFound = AppStoreServerErrorCode(rawValue: 4_040_009)
  /// `4040010`: The transaction was not found in this environment.
  public static let transactionIdNotFound = AppStoreServerErrorCode(rawValue: 4_040_010)
  /// `4040014`: The image was not found.
  public static let imageNotFound = AppStoreServerErrorCode(rawValue: 4_040_014)
  /// `4040015`: The message was not found.
  public static let messageNotFound = AppStoreServerErrorCode(rawValue: 4_040_015)
  /// `4040018`: The performance test was not found.
  public static let performanceTestNotFound = AppStoreServerErrorCode(rawValue: 4_040_018)
  /// `4040019`: The customer has no app transaction.
  public static let appTransactionNotFound = AppStoreServerErrorCode(rawValue: 4_040_019)
  /// `4040020`: There is no default message for this product and locale.
  public static let defaultMessageNotFound = AppStoreServerErrorCode(rawValue: 4_040_020)
  /// `4040021`: The app has no realtime URL.
  public static let realtimeURLNotFound = AppStoreServerErrorCode(rawValue: 4_040_021)
  /// `4040022`: The group was not found.
  public static let groupNotFound = AppStoreServerErrorCode(rawValue: 4_040_022)
  /// `4090000`: There is an image of this identifier already.
  public static let imageExists = AppStoreServerErrorCode(rawValue: 4_090_000)
  /// `4090001`: There is a message of this identifier already.
  public static let messageExists = AppStoreServerErrorCode(rawValue: 4_090_001)
  /// `4290000`: Too many requests in this hour.
  public static let rateLimitExceeded = AppStoreServerErrorCode(rawValue: 4_290_000)
  /// `5000000`: The App Store failed.
  public static let generalInternal = AppStoreServerErrorCode(rawValue: 5_000_000)
  /// `5000001`: The App Store failed; asking again may help.
  public static let generalInternalRetryable = AppStoreServerErrorCode(rawValue: 5_000_001)
}
