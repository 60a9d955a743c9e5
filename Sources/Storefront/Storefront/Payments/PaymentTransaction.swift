// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension PaymentTransaction {
  /// The state with its associated values.
  package indirect enum Outcome: Sendable, Hashable {
    /// The store has not decided.
    case purchasing
    /// The store sold the product.
    case purchased(StoreTransaction)
    /// The store did not sell the product.
    case failed(StoreError)
    /// Restored, as a new transaction.
    case restored(StoreTransaction, original: StoreTransaction)

    /// The sale and the original, if there are any.
    var sales: [StoreTransaction] {
      switch self {
      case .purchasing, .failed: []
      case .purchased(let sale): [sale]
      case .restored(let sale, let original): [sale, original]
      }
    }
  }

  /// The state (`transactionState`).
  public var transactionState: State {
    switch outcome {
    case .purchasing: .purchasing
    case .purchased: .purchased
    case .failed: .failed
    case .restored: .restored
    }
  }

  /// The error (`error`): defined only in ``State/failed``.
  public var error: StoreError? {
    guard case .failed(let error) = outcome else { return nil }
    return error
  }

  /// The original purchase (`originalTransaction`), which is not itself in the queue: defined only in
  /// ``State/restored``.
  public var originalTransaction: PaymentTransaction? {
    guard case .restored(_, let original) = outcome else { return nil }
    return PaymentTransaction(
      id: ID(rawValue: "\(id.rawValue)-original"), payment: original.payment, outcome: .purchased(original))
  }

  /// The store's transaction: defined only in ``State/purchased`` and ``State/restored``.
  package var storeTransaction: StoreTransaction? { outcome.sales.first }

  /// The store's identifier of the transaction (`transactionIdentifier`), unique per successful payment: defined only
  /// in ``State/purchased`` and ``State/restored``. Keep it for audits.
  public var transactionIdentifier: String? { storeTransaction?.transactionIdentifier }

  /// The date on which it was added to the store's own queue (`transactionDate`): defined only in ``State/purchased``
  /// and ``State/restored``.
  public var transactionDate: Timestamp? { storeTransaction?.transactionDate }

  /// The signed receipt (`transactionReceipt`): defined only in ``State/purchased`` and ``State/restored``.
  ///
  /// The receipt of a restored purchase is that of the new transaction. It is unverified: verify it before you unlock
  /// content. It is also `nil` in a snapshot without receipts, such as those of ``PaymentQueue/transactions``.
  public var transactionReceipt: [UInt8]? {
    guard let sold = storeTransaction, !sold.receipt.isEmpty else { return nil }
    return sold.receipt
  }

  /// The content to fetch (`downloads`), for ``PaymentQueue/startDownloads(_:)``. It is empty except in
  /// ``State/purchased`` and ``State/restored``. ``PaymentQueue/downloads(of:)`` returns the same downloads in their
  /// current state.
  public var downloads: [Download] {
    (storeTransaction?.downloads ?? []).enumerated().map { index, content in
      Download(transaction: id, index: index, content: content)
    }
  }
}

/// A payment under construction (`SKMutablePayment`). A payment is a value, so a variable is mutable.
public typealias MutablePayment = Payment

extension Payment {
  /// Creates a payment for one unit of a product (`paymentWithProduct:`).
  public init(product: Product) { self.init(productIdentifier: product.productIdentifier) }

  /// Creates a copy of a payment (`mutableCopy`).
  public init(_ payment: Payment) { self = payment }
}

extension PaymentOffer: JSONFieldValue {
  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    let members = try OfferMembers(from: &json)
    switch (members.promotional, members.code, members.winBack) {
    case (let offer?, nil, nil): self = .promotional(offer)
    case (nil, let code?, nil): self = .code(code)
    case (nil, nil, let identifier?): self = .winBack(identifier)
    default: throw json.fieldFailure(.invalidValue, "expected exactly one of promotional, code and winBack.")
    }
  }

  package func write(to json: inout JSONWriter) {
    switch self {
    case .promotional(let offer): OfferMembers(promotional: offer).write(to: &json)
    case .code(let code): OfferMembers(code: code).write(to: &json)
    case .winBack(let identifier): OfferMembers(winBack: identifier).write(to: &json)
    }
  }
}
