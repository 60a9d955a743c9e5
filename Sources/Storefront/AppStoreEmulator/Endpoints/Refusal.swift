// SPDX-License-Identifier: Apache-2.0

public import AppStoreServer
internal import ReceiptCodec
internal import Storefront

/// The error of an endpoint that refuses a request.
typealias Refusal = AppStoreServerErrorCode

extension AppStoreServerErrorCode: Error {
  // Apple's documentation lists these errors without numbers. The two numbers are the emulator's own.
  static let consumptionPercentageOutOfRange = Self.unknown(4_000_200)
  static let undeliveredConsumptionPercentage = Self.unknown(4_000_201)
}

extension RemoteResponse {
  /// An error of the App Store Server API. The status is the code divided by 10000.
  static func refusal(_ code: Refusal, _ message: String? = nil) -> RemoteResponse {
    .json(
      status: Int(code.rawValue / 10_000), ("errorCode", .integer(code.rawValue)),
      ("errorMessage", .string(message ?? code.meaning ?? "The request is not valid.")))
  }

  /// The response for an error of an endpoint: a refusal, or an error of the store of purchases.
  static func failure(_ error: any Error) -> RemoteResponse {
    switch (error, (error as? LocalStoreError)?.code) {
    case (let code as Refusal, _): .refusal(code)
    case (_, .notFound?): .refusal(.transactionIdNotFound)
    case (let error as LocalStoreError, .refused?): .refusal(.generalBadRequest, error.message)
    default: .refusal(.generalInternal, "\(error)")
    }
  }
}
