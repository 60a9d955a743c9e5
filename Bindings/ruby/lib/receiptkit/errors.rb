# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

module ReceiptKit
  # What a call fails with. A verdict is no error, whatever it says.
  class Error < StandardError
    # A stable code, such as `unexpected`.
    attr_reader :code
    # The status of receiptkit.h: 64 for a wrong call, 66 for an input that cannot be read, 70 for a fault.
    attr_reader :status
    # The place in the input, such as a JSON path.
    attr_reader :place

    def initialize(message, code:, status:, place: nil)
      super(place ? "#{message} (#{place})" : message)
      @code, @status, @place = code, status, place
    end
  end

  # The verifier or signer is closed.
  class ClosedError < Error
    def initialize = super("The verifier or signer is closed.", code: "usage", status: 64)
  end

  # The payload of a receipt that is not valid was asked for.
  class NotValidError < Error
    attr_reader :verdict

    def initialize(verdict, status)
      super(verdict.reason.message, code: verdict.reason.code, status: status, place: verdict.reason.place)
      @verdict = verdict
    end
  end
end
