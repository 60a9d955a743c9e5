# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

module ReceiptKit
  # Why a receipt is not valid: a stable code, a sentence, and the place if there is one.
  Reason = Struct.new(:code, :message, :place)

  # The verdict on one receipt. What an invalid receipt states is left out: nothing of it was verified.
  #
  # In Ruby a verdict is true in a condition whatever it says: ask `valid?`.
  class Verdict
    WORDS = { Library::VALID => "valid", Library::INVALID => "invalid", Library::UNDETERMINED => "undetermined" }.freeze

    # `valid`, `invalid` or `undetermined`.
    attr_reader :verdict
    # A Reason; nil of a valid one.
    attr_reader :reason
    # The whole object `verdict`.
    attr_reader :json

    def initialize(status, json)
      @json = json.freeze
      @members = Library.members(json)
      @verdict = WORDS[status]
      if @verdict.nil? || @members["verdict"] != @verdict
        raise Library.internal("A verdict contradicts the status #{status}.")
      end

      reason = @members["reason"]
      @reason = reason && Reason.new(reason["code"], reason["message"], reason["place"]).freeze
      freeze
    end

    # Whether the receipt is genuine and satisfies the policy.
    def valid? = @verdict == "valid"
    def invalid? = @verdict == "invalid"
    # It could not be checked: it must be taken neither for valid nor for forged.
    def undetermined? = @verdict == "undetermined"
    # Of an undetermined one: whether trying again later may give an answer.
    def retryable? = @members["retryable"] == true
    # Whether the receipt is valid and a purchase in it is active. Grant nothing without it.
    def grants_access? = valid? && @members["grantsAccess"] == true
    # The kind of receipt; of an invalid one what it claims to be.
    def format = @members["format"]
    def environment = @members["environment"]
    def bundle_id = @members["bundleId"]
    # When the receipt was signed, in ISO 8601.
    def signed_date = @members["signedDate"]
    # Whether what was bought still stands, such as `active`; nil where there is no purchase.
    def standing = @members["standing"]
    # The purchases: hashes, by Apple's names.
    def transactions = @members["transactions"] || [].freeze
    # Any member of the object `verdict`, by its name.
    def [](name) = @members[name.to_s]
    def to_h = @members
    def to_json(*) = json
    def ==(other) = other.is_a?(Verdict) && to_h == other.to_h
    def inspect = "#<#{self.class} #{verdict}#{" #{reason.code}" if reason}>"
  end
end
