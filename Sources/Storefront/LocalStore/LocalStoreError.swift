// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptSigning

extension LocalStoreError {
  init(_ error: RecordStorageError) {
    self.init(error.code == .corrupt ? .corrupt : .storage, at: error.place, error.description)
  }

  init(_ error: SigningError) { self.init(.signing, at: error.place, error.message) }

  init(_ error: SubscriptionError) {
    switch error.code {
    case .unknownSubscription, .unknownTransaction, .unknownProduct:
      self.init(.notFound, at: error.place, error.message)
    case .notActive, .alreadyRefunded, .notRefunded, .notEligible, .familyShared, .invalidValue:
      self.init(.refused, at: error.place, error.message)
    }
  }

  init(_ error: MalformedReceipt, at place: String) {
    self.init(.corrupt, at: place, "The record is not what a store has written: \(error.description)")
  }
}
