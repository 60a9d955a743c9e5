// SPDX-License-Identifier: Apache-2.0

/// What the App Store answers in pages, as one sequence: a page is requested when its first element is needed,
/// and released with its last.
///
/// Each iteration begins at the first page. An iteration fails with ``AppStoreServerError``, also when the App
/// Store names a page that was there before, which would never end.
public struct AppStoreServerPages<Element: Sendable>: AsyncSequence, Sendable {
  /// What iterating throws.
  public typealias Failure = AppStoreServerError
  typealias Load =
    @Sendable (_ token: String?) async throws(AppStoreServerError) -> AppStoreServerPage<Element>

  private let load: Load

  init(_ load: @escaping Load) { self.load = load }

  /// Begins at the first page.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(load: load) }

  /// Returns the elements of one page after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let load: Load
    private var elements: ArraySlice<Element> = []
    private var next: AppStoreServerPage<Element>.Next?
    private var isFirst = true
    /// Eight bytes for each page that came.
    private var knownTokens: Set<Int> = []

    init(load: @escaping Load) { self.load = load }

    /// The next element, from the next page where this one is at its end; `nil` after the last.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(AppStoreServerError) -> Element? {
      while elements.isEmpty {
        guard isFirst || next != nil else { return nil }
        let token = next?.token
        // After an error the sequence has ended.
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

/// A page of a longer answer.
struct AppStoreServerPage<Element: Sendable>: Sendable {
  struct Next: Sendable {
    let token: String
    /// What to throw where the token was seen before.
    let repeated: AppStoreServerError
  }

  let elements: [Element]
  /// `nil` for the last page.
  let next: Next?
}
