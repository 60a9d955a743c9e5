// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import Storefront

/// An error of the App Store Server API: `{"errorCode": …, "errorMessage": …}`. The status is the code divided
/// by 10000.
struct EmulatorError: Error, Hashable {
  let code: Int64
  let message: String

  init(_ code: Int64, _ message: String) {
    self.code = code
    self.message = message
  }

  /// What went wrong in the store of purchases, where no endpoint has a code of its own for it.
  init(_ error: LocalStoreError) {
    switch error.code {
    case .notFound: self = .transactionNotFound
    case .refused: self.init(4_000_000, error.message)
    case .storage, .corrupt, .signing, .invalidOption: self.init(5_000_000, error.description)
    }
  }

  var status: Int { Int(code / 10_000) }

  var response: EmulatorResponse {
    .json(.members(("errorCode", .integer(code)), ("errorMessage", .string(message))), status: status)
  }

  static let generalBadRequest = Self(4_000_000, "Bad request.")
  static let invalidRevision = Self(4_000_005, "Invalid request revision.")
  static let invalidTransactionId = Self(4_000_006, "Invalid transaction id.")
  static let invalidOriginalTransactionId = Self(4_000_008, "Invalid original transaction id.")
  static let invalidExtendByDays = Self(4_000_009, "Invalid extend by days value.")
  static let invalidExtendReasonCode = Self(4_000_010, "Invalid extend reason code.")
  static let invalidRequestIdentifier = Self(4_000_011, "Invalid request identifier.")
  static let startDateTooFarInPast = Self(4_000_012, "Start date is too far in the past.")
  static let startDateAfterEndDate = Self(4_000_013, "Start date is not before end date.")
  static let invalidPaginationToken = Self(4_000_014, "Invalid pagination token.")
  static let invalidStartDate = Self(4_000_015, "Invalid start date.")
  static let invalidEndDate = Self(4_000_016, "Invalid end date.")
  static let paginationTokenExpired = Self(4_000_017, "Pagination token expired.")
  static let invalidNotificationType = Self(4_000_018, "Invalid notification type or subtype.")
  static let multipleFiltersSupplied = Self(4_000_019, "Multiple filters supplied.")
  static let invalidTestNotificationToken = Self(4_000_020, "Invalid test notification token.")
  static let invalidSort = Self(4_000_021, "Invalid sort value.")
  static let invalidProductType = Self(4_000_022, "Invalid product type.")
  static let invalidProductId = Self(4_000_023, "Invalid product id.")
  static let invalidSubscriptionGroupIdentifier = Self(4_000_024, "Invalid subscription group identifier.")
  static let invalidExcludeRevoked = Self(4_000_025, "Invalid exclude revoked value.")
  static let invalidInAppOwnershipType = Self(4_000_026, "Invalid in-app ownership type.")
  static let invalidEmptyStorefrontList = Self(4_000_027, "The list of storefront country codes is empty.")
  static let invalidStorefrontCountryCode = Self(4_000_028, "Invalid storefront country code.")
  static let invalidRevoked = Self(4_000_030, "Invalid revoked value.")
  static let invalidStatus = Self(4_000_031, "Invalid status.")
  static let invalidAccountTenure = Self(4_000_032, "Invalid account tenure.")
  static let invalidAppAccountToken = Self(4_000_033, "Invalid app account token.")
  static let invalidConsumptionStatus = Self(4_000_034, "Invalid consumption status.")
  static let invalidCustomerConsented = Self(4_000_035, "Invalid customer consented value.")
  static let invalidDeliveryStatus = Self(4_000_036, "Invalid delivery status.")
  static let invalidLifetimeDollarsPurchased = Self(4_000_037, "Invalid lifetime dollars purchased.")
  static let invalidLifetimeDollarsRefunded = Self(4_000_038, "Invalid lifetime dollars refunded.")
  static let invalidPlatform = Self(4_000_039, "Invalid platform.")
  static let invalidPlayTime = Self(4_000_040, "Invalid play time.")
  static let invalidSampleContentProvided = Self(4_000_041, "Invalid sample content provided value.")
  static let invalidUserStatus = Self(4_000_042, "Invalid user status.")
  static let invalidRefundPreference = Self(4_000_044, "Invalid refund preference.")
  static let transactionTypeNotSupported = Self(4_000_047, "Transaction type not supported.")
  static let appTransactionIdNotSupported = Self(4_000_048, "App transaction id not supported.")
  static let invalidImage = Self(4_000_161, "The image is no PNG.")
  static let headerTooLong = Self(4_000_162, "The header is too long.")
  static let bodyTooLong = Self(4_000_163, "The body is too long.")
  static let invalidLocale = Self(4_000_164, "Invalid locale.")
  static let altTextTooLong = Self(4_000_175, "The alternative text is too long.")
  static let appAccountTokenNotUUID = Self(4_000_183, "The app account token is no UUID.")
  static let familyTransactionNotSupported = Self(4_000_185, "Family transactions are not supported.")
  static let transactionIdNotOriginal = Self(4_000_187, "The transaction id is not an original one.")
  static let consumptionPercentageNotSupported = Self(
    4_000_209, "No consumption percentage for auto-renewable subscriptions.")
  static let invalidPerformanceRequest = Self(4_000_211, "Invalid performance test request.")
  static let invalidRequestId = Self(4_000_212, "Invalid request id.")
  static let performanceTestExists = Self(4_000_213, "A performance test is under way.")
  static let invalidRealtimeURL = Self(4_000_215, "Invalid realtime URL.")
  static let invalidImageSize = Self(4_000_216, "Invalid image size.")
  static let tooManyBulletPoints = Self(4_000_218, "Too many bullet points.")
  static let bulletPointTooLong = Self(4_000_219, "The text of a bullet point is too long.")
  static let headerPositionWithoutImage = Self(4_000_224, "ABOVE_IMAGE needs an image.")
  static let invalidLimit = Self(4_000_004, "Invalid limit.")
  static let invalidGroupId = Self(4_000_225, "Invalid group id.")

  static let extensionIneligible = Self(4_030_004, "Subscription extension is ineligible.")
  static let extensionMaximumReached = Self(4_030_005, "Subscription extensions are used up.")
  static let extensionFamilyShared = Self(4_030_007, "A family-shared subscription cannot be extended.")
  static let tooManyImages = Self(4_030_014, "There are too many images.")
  static let tooManyMessages = Self(4_030_016, "There are too many messages.")
  static let messageNotApproved = Self(4_030_017, "The message is not approved.")
  static let imageNotApproved = Self(4_030_018, "The image is not approved.")
  static let imageInUse = Self(4_030_019, "The image is in use.")
  static let noPassingPerformanceTest = Self(4_030_026, "No performance test was passed.")

  static let originalTransactionNotFound = Self(4_040_005, "Original transaction id not found.")
  static let notificationURLNotFound = Self(4_040_007, "There is no notification URL.")
  static let testNotificationNotFound = Self(4_040_008, "Test notification not found.")
  static let extensionStatusNotFound = Self(4_040_009, "Status of the extension request not found.")
  static let transactionNotFound = Self(4_040_010, "Transaction id not found.")
  static let imageNotFound = Self(4_040_014, "Image not found.")
  static let messageNotFound = Self(4_040_015, "Message not found.")
  static let performanceTestNotFound = Self(4_040_018, "Performance test not found.")
  static let appTransactionNotFound = Self(4_040_019, "App transaction does not exist.")
  static let defaultMessageNotFound = Self(4_040_020, "Default message not found.")
  static let realtimeURLNotFound = Self(4_040_021, "Realtime URL not found.")
  static let groupNotFound = Self(4_040_022, "Group not found.")

  static let revokeOnInactiveSubscription = Self(
    4_000_186, "Only an active subscription can be revoked.")
  static let alreadyRefunded = Self(4_030_021, "The transaction was refunded already.")

  static let imageExists = Self(4_090_000, "The image exists.")
  static let messageExists = Self(4_090_001, "The message exists.")

  // Apple's documentation has these errors without numbers; these two numbers are the emulator's own.
  static let consumptionPercentageOutOfRange = Self(4_000_200, "The consumption percentage is out of range.")
  static let undeliveredConsumptionPercentage = Self(
    4_000_201, "What was not delivered is not consumed.")
}
