// SPDX-License-Identifier: Apache-2.0

#if Server
  import NIOCore
  import NIOEmbedded
  @testable import ReceiptService
  import Testing

  /// The limits on requests and batches that are open at once: no app and no address keeps the others out.
  @Suite struct PlacesTests {
    @Test func placesAreTakenAndGivenBack() throws {
      let places = RequestPlaces(maximum: 2)
      try places.take()
      try places.take()
      for _ in 0..<3 { #expect(throws: Problem.self) { try places.take() } }
      places.giveBack()
      try places.take()
      #expect(throws: Problem.self) { try places.take() }
    }

    @Test func oneAppLeavesPlacesForBatchesOfOthers() {
      let places = AppPlaces.batches(maximum: 8, appCount: 3)
      var own: [AppPlaces.Place] = []
      while let place = try? places.take(for: "a") { own.append(place) }
      #expect(own.count == 6)
      let others = [try? places.take(for: "b"), try? places.take(for: "c")]
      #expect(others.allSatisfy { $0 != nil })
      #expect(throws: Problem.self) { try places.take(for: "b") }
      #expect(throws: Problem.self) { try places.take(for: "a") }
      own = []
      #expect(throws: Never.self) { try places.take(for: "b") }
    }

    @Test func oneAppAloneGetsAllPlaces() {
      let places = AppPlaces.batches(maximum: 3, appCount: 1)
      let taken = (0..<3).compactMap { _ in try? places.take(for: "a") }
      #expect(taken.count == 3)
      #expect(throws: Problem.self) { try places.take(for: "a") }
    }

    @Test func manyAppsDoNotKeepOneFromHalfOfThePlaces() {
      let places = AppPlaces.batches(maximum: 8, appCount: 100)
      var own: [AppPlaces.Place] = []
      while let place = try? places.take(for: "a") { own.append(place) }
      #expect(own.count == 4)
    }

    private static func channel() throws -> EmbeddedChannel {
      let channel = EmbeddedChannel()
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
      return channel
    }

    @Test func bodiesWithoutAKeyAreBoundedTogether() throws {
      let requests = OpenRequests(maximumByteCount: 100, maximumCount: 10)
      let channels = try (0..<3).map { _ in try Self.channel() }
      let ids = channels.enumerated().map { requests.begin(from: "\($0)", on: $1) }
      for id in ids { try requests.add(40, to: id) }
      #expect(requests.byteCount == 80)
      #expect(channels.map(\.isActive) == [false, true, true])
      #expect(throws: Problem.self) { try requests.add(1, to: ids[0]) }
      #expect(!requests.end(ids[0]))
      #expect(requests.end(ids[1]))
      #expect(requests.byteCount == 40)
      try requests.add(60, to: ids[2])
      #expect(channels[2].isActive)
    }

    @Test func oneAddressKeepsNoOtherOut() throws {
      let requests = OpenRequests(maximumByteCount: 100, maximumCount: 2)
      let (other, own) = (try Self.channel(), try (0..<4).map { _ in try Self.channel() })
      let id = requests.begin(from: "other", on: other)
      for channel in own { _ = requests.begin(from: "own", on: channel) }
      #expect(own.map(\.isActive) == [false, false, true, true])
      #expect(other.isActive)
      #expect(requests.end(id))
    }

    @Test func noiseIsLeftOutAndCounted() {
      let start = ContinuousClock.now
      let noise = NoiseLimit(at: start)
      let first = (0..<100).map { _ in noise.leftOutCount(at: start) }
      #expect(first == Array(repeating: 0, count: 20) + Array(repeating: nil, count: 80))
      #expect(noise.leftOutCount(at: start + .milliseconds(900)) == nil)
      #expect(noise.leftOutCount(at: start + .milliseconds(1100)) == 81)
      #expect(noise.leftOutCount(at: start + .milliseconds(1200)) == nil)
      #expect(noise.leftOutCount(at: start + .milliseconds(2500)) == 1)
    }
  }
#endif
