// SPDX-License-Identifier: Apache-2.0

import Glibc
import Measuring

/// Reads pages at random places of a file, past the system's cache. A lookup takes at least as long if its pages are
/// not cached.
@safe
final class RandomReadProbe {
  private static let pageByteCount = 16384
  #if arch(x86_64)
    private static let direct: Int32 = 0x4000
  #else
    private static let direct: Int32 = 0x10000
  #endif

  /// The pages of the file.
  let pageCount: Int
  private let descriptor: Int32
  private let page: UnsafeMutableRawPointer

  init(path: String) throws {
    descriptor = unsafe open(path, O_RDONLY | Self.direct)
    guard descriptor >= 0 else { throw Failure("\(path) cannot be read past the cache.") }
    pageCount = Int(lseek(descriptor, 0, SEEK_END)) / Self.pageByteCount
    unsafe page = .allocate(byteCount: Self.pageByteCount, alignment: 4096)
  }

  deinit {
    unsafe page.deallocate()
    close(descriptor)
  }

  /// Reads a page.
  func read(_ number: Int) throws {
    let count = unsafe pread(descriptor, page, Self.pageByteCount, number * Self.pageByteCount)
    guard count == Self.pageByteCount else { throw Failure("A page of the trail cannot be read.") }
  }

  /// The bytes that this process had read from disks so far.
  static func bytesReadFromDisk() -> Int {
    var usage = rusage()
    guard unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
    return usage.ru_inblock * 512
  }
}
