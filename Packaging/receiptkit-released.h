/* SPDX-License-Identifier: Apache-2.0 */

/*
 * ReceiptKit in the process of any language: verification, inspection and signing of purchase receipts, and the check of
 * proofs of an audit trail.
 *
 * What goes in and comes out as text is JSON in UTF-8. The objects are those that receipt-tool prints with --json, which
 * Schemas/receipt-tool describes: `verdict`, `inspection`, `signed-receipt`, `audit-check`, `version` and `error`.
 *
 * Statuses. Each function returns the exit code that the command has for the same result: 0 alone means success, and of a
 * verification that the receipt is valid. With a status of RECEIPTKIT_USAGE or more, `result` is an object `error`; so it is if
 * receiptkit_inspect returns RECEIPTKIT_INVALID, for bytes that are no receipt.
 *
 * Threads. Every function may be called from any number of threads at once, with the same handle, too. A handle may be
 * freed while other threads use it: their calls finish, and later ones return RECEIPTKIT_USAGE. The library has no threads
 * but those of a batch, which end before receiptkit_verify_batch returns.
 *
 * fork. A fork waits until the calls of other threads are finished; of a batch, until the receipts in work are. So the child
 * can use every handle of its parent. A call must not be made in a signal handler, or by a child of vfork.
 *
 * Process. The library installs no signal handler, prints nothing, reads no configuration, neither from a file nor from the
 * environment, and opens no connection. It cannot be unloaded. Its copies of libcrypto and of the Swift runtime are its own:
 * other versions of them in the process are neither used nor disturbed.
 *
 * Memory. A call uses at most some ten times the memory of its input. If the system has no memory, the process is ended, as
 * by the Swift runtime; no other input ends it.
 */

#ifndef RECEIPTKIT_H
#define RECEIPTKIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. A library with the same number has at least the functions that this header declares. */
#define RECEIPTKIT_ABI_VERSION 1

/* A verifier or a signer. A number that was never returned, or was freed, is noticed. 0 is never returned. */
typedef uint64_t receiptkit_handle;

/* A text that the library allocated: UTF-8, with a NUL after its length. receiptkit_text_free frees it. */
typedef struct receiptkit_text {
  char *bytes;
  size_t length;
} receiptkit_text;

enum {
  /* The receipt is valid; of other functions: it was done. */
  RECEIPTKIT_VALID = 0,
  /* The receipt is invalid, or the proof proves nothing. */
  RECEIPTKIT_INVALID = 1,
  /* The receipt could not be checked. It must be taken neither for valid nor for forged. */
  RECEIPTKIT_UNDETERMINED = 2,
  /* The call is wrong: an argument is NULL, a handle is unknown, a member of a policy is unknown or impossible. */
  RECEIPTKIT_USAGE = 64,
  /* An input cannot be read: it is no JSON, no certificate, no key, no receipt. */
  RECEIPTKIT_UNREADABLE = 66,
  /* A fault of the library or of libcrypto. */
  RECEIPTKIT_INTERNAL = 70
};

/* Returns RECEIPTKIT_ABI_VERSION of the library. */
uint32_t receiptkit_abi_version(void);

/* The object `version`. */
int32_t receiptkit_version(receiptkit_text *result);

/*
 * Creates a verifier from a policy (Schemas/receiptkit/policy.schema.json): at least {"bundleIds": ["com.example.app"]}.
 * Keep it: it remembers the signers of receipts that it accepted. `result` is empty unless there is an error.
 */
int32_t receiptkit_verifier_create(
    const char *policy, size_t policy_length, receiptkit_handle *verifier, receiptkit_text *result);

/*
 * Verifies a receipt of any kind, as a file that receipt-tool reads would have it; of one that is longer than the policy's
 * `maximumByteCount` no more is read than that. `result` is the object `verdict`, without `source`. The standing of a purchase
 * is that at the policy's instant, or now.
 */
int32_t receiptkit_verify(
    receiptkit_handle verifier, const void *receipt, size_t receipt_length, receiptkit_text *result);

/*
 * Verifies receipts on all processors. They stand one after another in `receipts`: the one with the number i is from
 * offsets[i] up to offsets[i + 1], so that there are count + 1 offsets. That they ascend is checked; that the last one lies
 * within `receipts` cannot be, and is up to the caller.
 *
 * `result` has the verdict on each on a line of its own, in order, and a line feed after each. Standing is evaluated at one
 * instant for all. `statuses`, unless NULL, has room for count bytes: it gets RECEIPTKIT_VALID,
 * RECEIPTKIT_INVALID or RECEIPTKIT_UNDETERMINED for each. The function returns 0 if all were verified,
 * whatever the verdicts.
 */
int32_t receiptkit_verify_batch(
    receiptkit_handle verifier, const void *receipts, const uint64_t *offsets, size_t count, uint8_t *statuses,
    receiptkit_text *result);

/* Verifies a receipt and returns its payload, as the store signed it: see `receipt-tool verify --payload`. Of a receipt that
 * is not valid `result` is the verdict. */
int32_t receiptkit_payload(
    receiptkit_handle verifier, const void *receipt, size_t receipt_length, receiptkit_text *result);

/* Set to replace a customer's values in an inspection, and to keep the structure. */
#define RECEIPTKIT_INSPECT_REDACTED 1u

/*
 * Returns the contents of a receipt, of which nothing is checked: the object `inspection`, without `source`. Grant nothing
 * for it.
 */
int32_t receiptkit_inspect(const void *receipt, size_t receipt_length, uint32_t options, receiptkit_text *result);

/* Creates a signer from a private key with its certificates (Schemas/receiptkit/identity.schema.json). */
int32_t receiptkit_signer_create(
    const char *identity, size_t identity_length, receiptkit_handle *signer, receiptkit_text *result);

/* Signs a receipt (Schemas/receiptkit/signing-request.schema.json). `result` is the object `signed-receipt`. */
int32_t receiptkit_sign(receiptkit_handle signer, const char *request, size_t request_length, receiptkit_text *result);

/*
 * Checks that a proof (C2SP tlog-proof) proves its entry, with what the request names
 * (Schemas/receiptkit/proof-request.schema.json). `result` is the object `audit-check`, without `source`.
 */
int32_t receiptkit_check_proof(
    const void *proof, size_t proof_length, const char *request, size_t request_length, receiptkit_text *result);

/* Frees a verifier or a signer. Returns RECEIPTKIT_USAGE if there is none with this number. */
int32_t receiptkit_handle_free(receiptkit_handle handle);

/* Frees a text and empties it. Does nothing for NULL or an empty one, so that a second call is harmless. */
void receiptkit_text_free(receiptkit_text *text);

#ifdef __cplusplus
}
#endif

#endif
