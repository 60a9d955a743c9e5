// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storefront
import Testing

/// After `cancel()` the delegate receives no call, whenever it is called.
@Suite(.timeLimit(.minutes(5))) struct ProductsRequestCancellationTests {
  private func request(
    gate: Gate? = nil, error: StoreError? = nil, delegate: RecordingDelegate
  ) throws -> ProductsRequest {
    let request = ProductsRequest(
      productIdentifiers: ["com.example.coins"],
      store: CatalogStore(try CatalogSamples.catalog, gate: gate, error: error))
    request.delegate = delegate
    return request
  }

  @Test("SKRequest: cancel") func theDelegateGetsNoErrorAndNothingElse() async throws {
    for error in [nil, StoreError(.unknown, "down")] {
      let gate = Gate()
      let delegate = RecordingDelegate()
      let request = try request(gate: gate, error: error, delegate: delegate)
      request.start()
      await gate.arrival()
      // It does not wait for the store, which ignores the cancellation.
      await request.cancel()
      await gate.open()
      await letOtherTasksRun()
      #expect(await delegate.events.isEmpty)
    }
  }

  @Test func aCancelledRequestDoesNotStart() async throws {
    let delegate = RecordingDelegate()
    let store = CatalogStore(try CatalogSamples.catalog)
    let request = ProductsRequest(productIdentifiers: ["com.example.coins"], store: store)
    request.delegate = delegate
    await request.cancel()
    request.start()
    await letOtherTasksRun()
    #expect(await delegate.events.isEmpty)
    #expect(await store.questions.isEmpty)
    // A call of `response()` is independent.
    #expect(try await request.response().products.count == 1)
  }

  @Test func cancelledTwiceOrAfterTheEndIsCancelled() async throws {
    let delegate = RecordingDelegate()
    let request = try request(delegate: delegate)
    request.start()
    await delegate.wait(for: 2)
    await request.cancel()
    await request.cancel()
    await letOtherTasksRun()
    #expect(await delegate.events.count == 2)
  }

  @Test func cancelledByItsDelegateItDoesNotFinish() async throws {
    let delegate = RecordingDelegate { request in await request.cancel() }
    let request = try request(delegate: delegate)
    request.start()
    await delegate.wait(for: 1)
    await letOtherTasksRun()
    #expect(await delegate.events.count == 1)
  }

  @Test func cancellingWaitsForTheCallThatIsUnderWay() async throws {
    let inside = Gate()
    let delegate = RecordingDelegate { _ in await inside.pass() }
    let request = try request(delegate: delegate)
    request.start()
    await inside.arrival()
    let returned = Gate()
    let cancelling = Task {
      await request.cancel()
      await returned.pass()
    }
    await letOtherTasksRun()
    #expect(await returned.hasArrivals == false)
    await inside.open()
    await returned.open()
    await cancelling.value
    await letOtherTasksRun()
    #expect(await delegate.events.count == 1)
  }

  @Test func noCallBeginsAfterwardsHoweverTheyRace() async throws {
    let rounds = Sweeps.areFull ? 5000 : 400
    var counts: [Int: Int] = [:]
    for round in 0..<rounds {
      let delegate = RecordingDelegate()
      let request = try request(
        error: round % 5 == 4 ? StoreError(.unknown, "down") : nil, delegate: delegate)
      request.start()
      for _ in 0..<(round % 23) { await Task.yield() }
      if round % 23 == 22 { await delegate.wait(for: 1) }
      await request.cancel()
      let before = await delegate.events.count
      counts[before, default: 0] += 1
      for _ in 0..<30 { await Task.yield() }
      #expect(await delegate.events.count == before)
    }
    // There was a race: some cancellations were too late, some were not.
    #expect(counts.count > 1)
  }

  @Test func manyMayCancelAtOnce() async throws {
    for _ in 0..<20 {
      let delegate = RecordingDelegate()
      let request = try request(delegate: delegate)
      await withTaskGroup { group in
        for index in 0..<16 {
          group.addTask {
            if index % 4 == 0 { request.start() } else { await request.cancel() }
          }
        }
      }
      let before = await delegate.events.count
      await letOtherTasksRun()
      #expect(await delegate.events.count == before)
    }
  }
}
