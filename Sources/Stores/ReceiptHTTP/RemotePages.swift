// SPDX-License-Identifier: Apache-2.0

/// The elements of a paged answer of a store, as one sequence.
///
/// A page is requested when its first element is needed, and released with its last.
///
/// Each iteration begins at the first page. An iteration fails with the error of the store's client. It also fails if
/// the store names a page that it already returned, because such an iteration would never end.
public struct RemotePages<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
  package typealias Load = @Sendable (_ token: String?) async throws(Failure) -> RemotePage<Element, Failure>

  private let load: Load

  package init(_ load: @escaping Load) { self.load = load }

  /// Returns an iterator that begins at the first page.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(load: load) }

  /// An iterator over the elements of one page after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let load: Load
    private var elements: ArraySlice<Element> = []
    private var next: RemotePage<Element, Failure>.Next?
    private var isFirst = true
    /// The hashes of the page tokens seen so far, eight bytes for each.
    private var knownTokens: Set<Int> = []

    init(load: @escaping Load) { self.load = load }

    /// Returns the next element, from the next page if this one is exhausted; `nil` after the last.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Element? {
      while elements.isEmpty {
        guard isFirst || next != nil else { return nil }
        let token = next?.token
        // After an error the sequence ends.
        isFirst = false
        next = nil
        let page = try await load(token)
        if let next = page.next {
          guard knownTokens.insert(next.token.hashValue).inserted else { throw next.repeated }
        }
        elements = page.elements[...]
        next = page.next
      }
      return elements.popFirst()
    }
  }
}

/// A page of an answer.
package struct RemotePage<Element: Sendable, Failure: Error>: Sendable {
  package struct Next: Sendable {
    let token: String
    /// The error to throw if the token was seen before.
    let repeated: Failure
  }

  let elements: [Element]
  /// `nil` for the last page.
  let next: Next?

  /// Creates a page; `next` is the token of the next one, and `repeated` the error to throw if it was seen before.
  package init(_ elements: [Element], next: String?, repeated: @autoclosure () -> Failure) {
    self.elements = elements
    self.next = next.map { Next(token: $0, repeated: repeated()) }
  }
}
