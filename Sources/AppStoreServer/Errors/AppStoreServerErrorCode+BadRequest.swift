// SPDX-License-Identifier: Apache-2.0

/// Requests that are not valid (HTTP status 400).
extension AppStoreServerErrorCode {
  /// `4000000`: The request is not valid.
  public static let generalBadRequest = AppStoreServerErrorCode(rawValue: 4_000_000)
  /// `4000002`: The app identifier is not valid.
  public static let invalidAppIdentifier = AppStoreServerErrorCode(rawValue: 4_000_002)
  /// `4000004`: The limit of a page is not valid.
  public static let invalidLimit = AppStoreServerErrorCode(rawValue: 4_000_004)
  /// `4000005`: The revision is not valid.
  public static let invalidRequestRevision = AppStoreServerErrorCode(rawValue: 4_000_005)
  /// `4000006`: The transaction identifier is not valid.
  public static let invalidTransactionId = AppStoreServerErrorCode(rawValue: 4_000_006)
  /// `4000008`: The original transaction identifier is not valid.
  public static let invalidOriginalTransactionId = AppStoreServerErrorCode(rawValue: 4_000_008)
  /// `4000009`: The number of days of the extension is not valid.
  public static let invalidExtendByDays = AppStoreServerErrorCode(rawValue: 4_000_009)
  /// `4000010`: The reason of the extension is not valid.
  public static let invalidExtendReasonCode = AppStoreServerErrorCode(rawValue: 4_000_010)
  /// `4000011`: The request identifier is not valid.
  public static let invalidRequestIdentifier = AppStoreServerErrorCode(rawValue: 4_000_011)
  /// `4000012`: The start date is too far in the past.
  public static let startDateTooFarInPast = AppStoreServerErrorCode(rawValue: 4_000_012)
  /// `4000013`: The start date is not before the end date.
  public static let startDateAfterEndDate = AppStoreServerErrorCode(rawValue: 4_000_013)
  /// `4000014`: The pagination token is not valid.
  public static let invalidPaginationToken = AppStoreServerErrorCode(rawValue: 4_000_014)
  /// `4000015`: The start date is not valid.
  public static let invalidStartDate = AppStoreServerErrorCode(rawValue: 4_000_015)
  /// `4000016`: The end date is not valid.
  public static let invalidEndDate = AppStoreServerErrorCode(rawValue: 4_000_016)
  /// `4000017`: The pagination token has expired.
  public static let paginationTokenExpired = AppStoreServerErrorCode(rawValue: 4_000_017)
  /// `4000018`: The notification type or subtype is not valid.
  public static let invalidNotificationType = AppStoreServerErrorCode(rawValue: 4_000_018)
  /// `4000019`: The request names a notification type and a transaction; one is allowed.
  public static let multipleFiltersSupplied = AppStoreServerErrorCode(rawValue: 4_000_019)
  /// `4000020`: The test notification token is not valid.
  public static let invalidTestNotificationToken = AppStoreServerErrorCode(rawValue: 4_000_020)
  /// `4000021`: The sort order is not valid.
  public static let invalidSort = AppStoreServerErrorCode(rawValue: 4_000_021)
  /// `4000022`: The product type is not valid.
  public static let invalidProductType = AppStoreServerErrorCode(rawValue: 4_000_022)
  /// `4000023`: The product identifier is not valid.
  public static let invalidProductId = AppStoreServerErrorCode(rawValue: 4_000_023)
  /// `4000024`: The subscription group identifier is not valid.
  public static let invalidSubscriptionGroupIdentifier = AppStoreServerErrorCode(rawValue: 4_000_024)
  /// `4000025`: The value of excludeRevoked is not valid.
  public static let invalidExcludeRevoked = AppStoreServerErrorCode(rawValue: 4_000_025)
  /// `4000026`: The ownership type is not valid.
  public static let invalidInAppOwnershipType = AppStoreServerErrorCode(rawValue: 4_000_026)
  /// `4000027`: The list of storefronts is empty.
  public static let emptyStorefrontCountryCodeList = AppStoreServerErrorCode(rawValue: 4_000_027)
  /// `4000028`: A storefront is not valid.
  public static let invalidStorefrontCountryCode = AppStoreServerErrorCode(rawValue: 4_000_028)
  /// `4000030`: The value of revoked is not valid.
  public static let invalidRevoked = AppStoreServerErrorCode(rawValue: 4_000_030)
  /// `4000031`: The status is not valid.
  public static let invalidStatus = AppStoreServerErrorCode(rawValue: 4_000_031)
  /// `4000032`: The account tenure is not valid.
  public static let invalidAccountTenure = AppStoreServerErrorCode(rawValue: 4_000_032)
  /// `4000033`: The app account token is not valid.
  public static let invalidAppAccountToken = AppStoreServerErrorCode(rawValue: 4_000_033)
  /// `4000034`: The consumption status is not valid.
  public static let invalidConsumptionStatus = AppStoreServerErrorCode(rawValue: 4_000_034)
  /// `4000035`: The customer must have consented.
  public static let invalidCustomerConsented = AppStoreServerErrorCode(rawValue: 4_000_035)
  /// `4000036`: The delivery status is not valid.
  public static let invalidDeliveryStatus = AppStoreServerErrorCode(rawValue: 4_000_036)
  /// `4000037`: The value of lifetimeDollarsPurchased is not valid.
  public static let invalidLifetimeDollarsPurchased = AppStoreServerErrorCode(rawValue: 4_000_037)
  /// `4000038`: The value of lifetimeDollarsRefunded is not valid.
  public static let invalidLifetimeDollarsRefunded = AppStoreServerErrorCode(rawValue: 4_000_038)
  /// `4000039`: The platform is not valid.
  public static let invalidPlatform = AppStoreServerErrorCode(rawValue: 4_000_039)
  /// `4000040`: The play time is not valid.
  public static let invalidPlayTime = AppStoreServerErrorCode(rawValue: 4_000_040)
  /// `4000041`: The value of sampleContentProvided is not valid.
  public static let invalidSampleContentProvided = AppStoreServerErrorCode(rawValue: 4_000_041)
  /// `4000042`: The user status is not valid.
  public static let invalidUserStatus = AppStoreServerErrorCode(rawValue: 4_000_042)
  /// `4000043`: The transaction is of no consumable; no longer sent.
  public static let transactionNotConsumable = AppStoreServerErrorCode(rawValue: 4_000_043)
  /// `4000044`: The refund preference is not valid.
  public static let invalidRefundPreference = AppStoreServerErrorCode(rawValue: 4_000_044)
  /// `4000047`: The call does not support this type of transaction.
  public static let transactionTypeNotSupported = AppStoreServerErrorCode(rawValue: 4_000_047)
  /// `4000048`: The call does not take an app transaction identifier.
  public static let appTransactionIdNotSupported = AppStoreServerErrorCode(rawValue: 4_000_048)
  /// `4000161`: The image is not valid.
  public static let invalidImage = AppStoreServerErrorCode(rawValue: 4_000_161)
  /// `4000162`: The header of the message is too long.
  public static let headerTooLong = AppStoreServerErrorCode(rawValue: 4_000_162)
  /// `4000163`: The body of the message is too long.
  public static let bodyTooLong = AppStoreServerErrorCode(rawValue: 4_000_163)
  /// `4000164`: The locale is not valid.
  public static let invalidLocale = AppStoreServerErrorCode(rawValue: 4_000_164)
  /// `4000175`: The alternative text is too long.
  public static let altTextTooLong = AppStoreServerErrorCode(rawValue: 4_000_175)
  /// `4000183`: The app account token is no UUID.
  public static let appAccountTokenNotUUID = AppStoreServerErrorCode(rawValue: 4_000_183)
  /// `4000185`: The call does not take transactions that were shared in a family.
  public static let familyTransactionNotSupported = AppStoreServerErrorCode(rawValue: 4_000_185)
  /// `4000187`: The transaction identifier is not an original one.
  public static let transactionIdNotOriginal = AppStoreServerErrorCode(rawValue: 4_000_187)
  /// `4000209`: Auto-renewable subscriptions have no consumption percentage.
  public static let consumptionPercentageNotSupported = AppStoreServerErrorCode(rawValue: 4_000_209)
  /// `4000211`: The request for a performance test is not valid.
  public static let invalidPerformanceTestRequest = AppStoreServerErrorCode(rawValue: 4_000_211)
  /// `4000212`: The identifier of the performance test is not valid.
  public static let invalidPerformanceTestRequestId = AppStoreServerErrorCode(rawValue: 4_000_212)
  /// `4000213`: A performance test is running already.
  public static let performanceTestExists = AppStoreServerErrorCode(rawValue: 4_000_213)
  /// `4000215`: The realtime URL is not valid.
  public static let invalidRealtimeURL = AppStoreServerErrorCode(rawValue: 4_000_215)
  /// `4000216`: The image has not the size that it was declared with.
  public static let invalidImageSize = AppStoreServerErrorCode(rawValue: 4_000_216)
  /// `4000218`: The message has too many bullet points.
  public static let tooManyBulletPoints = AppStoreServerErrorCode(rawValue: 4_000_218)
  /// `4000219`: The text of a bullet point is too long.
  public static let bulletPointTextTooLong = AppStoreServerErrorCode(rawValue: 4_000_219)
  /// `4000224`: The header is to stand above an image that is not there.
  public static let headerAboveMissingImage = AppStoreServerErrorCode(rawValue: 4_000_224)
  /// `4000225`: The group identifier is not valid.
  public static let invalidGroupId = AppStoreServerErrorCode(rawValue: 4_000_225)
  /// `4000227`: The call does not take transactions that were assigned by an organization.
  public static let assignedTransactionNotSupported = AppStoreServerErrorCode(rawValue: 4_000_227)
}
