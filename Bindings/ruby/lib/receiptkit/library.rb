# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

require "fiddle"
require "json"

module ReceiptKit
  # The C library, which is loaded once in a process.
  class Library # :nodoc:
    VALID, INVALID, UNDETERMINED, USAGE, INTERNAL = 0, 1, 2, 64, 70
    REDACTED = 1
    ABI_VERSION = 1

    # A pointer is passed as its number. Fiddle converts an object by calling its method `to_int`, and drops an exception of
    # another thread that arrives in there, such as a timeout.
    POINTER, SIZE, HANDLE, STATUS = Fiddle::TYPE_UINTPTR_T, Fiddle::TYPE_SIZE_T, -Fiddle::TYPE_LONG_LONG, Fiddle::TYPE_INT
    # The parameters of each function, as receiptkit.h declares them; `result` is the last one.
    FUNCTIONS = {
      version: [POINTER],
      verifier_create: [POINTER, SIZE, POINTER, POINTER],
      verify: [HANDLE, POINTER, SIZE, POINTER],
      verify_batch: [HANDLE, POINTER, POINTER, SIZE, POINTER, POINTER],
      payload: [HANDLE, POINTER, SIZE, POINTER],
      inspect: [POINTER, SIZE, -Fiddle::TYPE_INT, POINTER],
      signer_create: [POINTER, SIZE, POINTER, POINTER],
      sign: [HANDLE, POINTER, SIZE, POINTER],
      check_proof: [POINTER, SIZE, POINTER, SIZE, POINTER]
    }.freeze
    TEXT_SIZE = Fiddle::SIZEOF_VOIDP + Fiddle::SIZEOF_SIZE_T

    @lock = Mutex.new

    class << self
      def get = @loaded || @lock.synchronize { @loaded ||= new(path) }
      def load(path) = @lock.synchronize { @loaded = new(path) }

      # A copy that stays as it is while a call reads it: other threads run meanwhile.
      def bytes(value, name)
        raise TypeError, "#{name} must be a String, not #{value.class}" unless value.is_a?(String)

        String.new(value, encoding: Encoding::BINARY).freeze
      end

      # The JSON of a value, or a text that is JSON already.
      def document(value)
        raise TypeError, "a Hash or JSON is needed, not #{value.class}" unless value.is_a?(Hash) || value.is_a?(String)

        bytes(value.is_a?(String) ? value : JSON.generate(value), "document")
      rescue JSON::GeneratorError, JSON::NestingError, EncodingError => error
        raise Error.new(error.message, code: "usage", status: USAGE)
      end

      def members(json)
        members = JSON.parse(json, freeze: true)
        members.is_a?(Hash) ? members : raise(internal("What the library returned is no object."))
      rescue JSON::ParserError
        raise internal("What the library returned cannot be read.")
      end

      def error(status, text)
        found = members(text)
        return internal("The library returned the status #{status} without an error.") unless found["code"]

        Error.new(found["message"], code: found["code"], status: status, place: found["place"])
      end

      def internal(message) = Error.new(message, code: "internal-fault", status: INTERNAL)

      private

      def path
        named = ENV["RECEIPTKIT_LIBRARY"].to_s
        return named unless named.empty?

        beside = File.expand_path("../../libreceiptkit.so", __dir__)
        File.file?(beside) ? beside : "libreceiptkit.so.1"
      end
    end

    def initialize(path)
      library = Fiddle.dlopen(path)
      found = Fiddle::Function.new(library["receiptkit_abi_version"], [], -Fiddle::TYPE_INT).call
      if found != ABI_VERSION
        raise self.class.internal("The library has version #{found} of the interface, and this gem needs #{ABI_VERSION}.")
      end

      # Other threads run while one of these does.
      @functions = FUNCTIONS.to_h do |name, parameters|
        [name, Fiddle::Function.new(library["receiptkit_#{name}"], parameters, STATUS, need_gvl: false)]
      end
      # These are short, and are called by the garbage collector, too.
      @text_free = Fiddle::Function.new(library["receiptkit_text_free"], [POINTER], Fiddle::TYPE_VOID, need_gvl: true)
      @handle_free = Fiddle::Function.new(library["receiptkit_handle_free"], [HANDLE], STATUS, need_gvl: true)
    rescue Fiddle::DLError => error
      raise Error.new("The library cannot be loaded: #{error.message}", code: "unavailable", status: INTERNAL)
    end

    # Calls a function whose last parameter is the result, and returns its status and the text.
    def call(name, *arguments)
      result = memory(TEXT_SIZE)
      # What is left here by an exception, the garbage collector frees.
      own = [result]
      arguments.map! { |argument| argument.is_a?(String) ? copy(argument).tap { |copied| own << copied } : argument }
      numbers = [*arguments, result].map(&:to_i)
      begin
        status = @functions.fetch(name).call(*numbers)
        address, length = result[0, TEXT_SIZE].unpack("JJ")
        content = address.zero? ? +"" : Fiddle::Pointer.new(address)[0, length]
        [status, content.force_encoding(Encoding::UTF_8)]
      ensure
        @text_free.call(numbers.last)
        own.each(&:call_free)
      end
    end

    # The text of a call that has no other outcome than success.
    def text_of(name, *arguments)
      status, text = call(name, *arguments)
      raise self.class.error(status, text) unless status == VALID

      text
    end

    # Creates a verifier or a signer and returns its handle.
    def create(name, document)
      handle = memory(8)
      text_of(name, document, document.bytesize, handle)
      handle[0, 8].unpack1("Q")
    end

    # The status and the verdict of each receipt.
    def verify_batch(handle, receipts)
      ends = receipts.each_with_object([0]) { |receipt, offsets| offsets << (offsets.last + receipt.bytesize) }
      statuses = memory(receipts.size + 1)
      text = text_of(:verify_batch, handle, receipts.join.b, ends.pack("Q*"), receipts.size, statuses)
      lines = text.lines(chomp: true)
      if lines.size != receipts.size
        raise self.class.internal("The library returned #{lines.size} verdicts on #{receipts.size} receipts.")
      end

      statuses[0, lines.size].unpack("C*").zip(lines)
    end

    def free(handle) = @handle_free.call(handle)

    private

    # Memory that is zero.
    def memory(size) = copy("\0".b * size)

    # A copy outside of every String: the garbage collector may move or lock one while the library, in another thread, reads or
    # writes it.
    def copy(bytes)
      memory = Fiddle::Pointer.malloc([bytes.bytesize, 1].max, Fiddle::RUBY_FREE)
      memory[0, bytes.bytesize] = bytes
      memory
    end
  end

  # A verifier or signer of the library, which is freed with its object.
  class Handle # :nodoc:
    def initialize(function, document)
      @library = Library.get
      # Whoever takes the handle out of it frees it.
      @box = []
      ObjectSpace.define_finalizer(self, self.class.finalizer(@library, @box))
      # An exception of another thread, such as a timeout, must not come between the two.
      Thread.handle_interrupt(Object => :never) { @box << @library.create(function, Library.document(document)) }
    end

    def self.finalizer(library, box)
      proc { (handle = box.pop) && library.free(handle) }
    end

    # Frees it. A second call does nothing; other calls fail from now on, and those that run finish.
    def close
      handle = @box.pop
      @library.free(handle) if handle
      nil
    end

    def closed? = @box.empty?

    def initialize_copy(_other) = raise(TypeError, "a #{self.class} cannot be copied")
    def marshal_dump = raise(TypeError, "a #{self.class} belongs to its process")
    # It could show a key.
    def inspect = "#<#{self.class}#{" closed" if closed?}>"

    private

    def handle = @box.first || raise(ClosedError)

    # Of a call during which another thread closed it.
    def failure(status, text)
      status == Library::USAGE && closed? ? ClosedError.new : Library.error(status, text)
    end
  end
end
