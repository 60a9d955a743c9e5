// SPDX-License-Identifier: Apache-2.0

/// Signals to the queues of customers in this process, so that they need not poll.
extension LocalStore {
  /// The signals for an account.
  func changes(of account: String) -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    listenerCount += 1
    let number = listenerCount
    listeners[account, default: [:]][number] = continuation
    continuation.onTermination = { [weak self] _ in
      Task { await self?.removeListener(number, of: account) }
    }
    return stream
  }

  private func removeListener(_ number: UInt64, of account: String) {
    listeners[account]?[number] = nil
    if listeners[account]?.isEmpty == true { listeners[account] = nil }
  }

  /// Signals that something of an account must be fetched.
  func signalChange(of account: String) {
    for listener in (listeners[account] ?? [:]).values { listener.yield() }
  }

  /// Signals the sales of a change that no queue has asked for, such as renewals.
  func signalSales(of change: Change) {
    guard !listeners.isEmpty else { return }
    for sale in change.sales.values where sale.requestIdentifier == nil && !sale.isFinished {
      signalChange(of: sale.account)
    }
  }
}
