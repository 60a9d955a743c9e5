#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: KEY=rk_… receipts.sh verify URL RECEIPT-FILE
#        KEY=rk_… receipts.sh entitlements URL CUSTOMER
#        WEBHOOK_SECRET=whsec_… receipts.sh webhook ID TIMESTAMP SIGNATURE <BODY
#
# Verifies a receipt, asks what a customer may use, and checks the signature of a webhook. Needs curl, jq and openssl. Exit
# code: 1 refused, 75 not decided now: keep the receipt, and grant nothing.
set -euo pipefail

answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# ask URL OPTION…: puts the answer of the server into the file $answer. curl asks again after 408, 429 and 5xx, and keeps
# Retry-After. It follows no redirect. The key is no argument, which others could see.
ask() {
  local status
  status=$(curl --silent --output "$answer" --write-out '%{http_code}' --max-time 30 --retry 3 --retry-connrefused \
    --header @<(printf 'Authorization: Bearer %s' "$KEY") "${@:2}" "$1") || status=000
  case $status in
    200) jq -e 'type == "object"' "$answer" >/dev/null 2>&1 && return 0 ;;
    408 | 429 | 5?? | 000) ;;
    *)
      echo "failed: $status $(jq -r '"\(.code): \(.detail)"' "$answer" 2>/dev/null)"
      exit 1
      ;;
  esac
  echo "undecided: no answer"
  exit 75
}

verify() {
  local pause
  for pause in 1 2 0; do
    ask "$1/v1/verify" --data-binary "@$2" --header 'Content-Type: application/octet-stream'
    case $(jq -r .verdict "$answer") in
      valid)
        # Genuine is not enough: a purchase may have expired, or may have been refunded.
        jq -r '.transactions[]? | select(.grantsAccess == true) | "grant \(.productId) × \(.remainingQuantity)"' "$answer"
        return 0
        ;;
      invalid)
        jq -r '"refuse: \(.reason.code)"' "$answer"
        return 1
        ;;
    esac
    # It could not be checked. That is neither valid nor invalid.
    [ "$(jq -r .retryable "$answer")" = true ] || break
    sleep "$pause"
  done
  echo "undecided: keep the receipt"
  return 75
}

entitlements() {
  ask "$1/v1/customers/$(jq -rn --arg name "$2" '$name | @uri')/entitlements"
  jq -r '.access[]? | "\(.name) \(if .grantsAccess then "yes" else "no" end)"' "$answer"
}

# Prints the change if the signature is right (https://www.standardwebhooks.com).
webhook() {
  local id=$1 timestamp=$2 signatures=$3 key expected signature
  cat >"$answer"
  key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
  # openssl takes the key as an argument alone: use another language where others may list processes.
  expected=$({ printf '%s.%s.' "$id" "$timestamp" && cat "$answer"; } \
    | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
  for signature in $signatures; do
    if [ "$signature" = "v1,$expected" ] && [ $(($(date +%s) - timestamp)) -le 300 ] && [ $((timestamp - $(date +%s))) -le 300 ]; then
      jq -r '"\(.type) \(.data.customer)"' "$answer"
      return 0
    fi
  done
  echo "the signature is not right, or old" >&2
  return 1
}

case ${1-} in
  verify | entitlements | webhook) "$@" ;;
  *)
    sed -n '4,6s/^# //p' "$0" >&2
    exit 64
    ;;
esac
