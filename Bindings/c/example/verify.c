/* SPDX-License-Identifier: Apache-2.0 */

/*
 * usage: verify POLICY RECEIPT…
 *
 * Verifies receipts and prints the verdict on each, a JSON object a line. Ends with 0 if each is valid and grants access, with
 * 1 if one is invalid or grants nothing, with 2 if one could not be checked, and otherwise with the status of the error.
 *
 *     cc verify.c -o verify $(pkg-config --cflags --libs receiptkit)
 */

#include <receiptkit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the contents of a file, or NULL. */
static char *contents(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    return NULL;
  }
  char *bytes = NULL;
  size_t count = 0, capacity = 0;
  while (!feof(file) && !ferror(file)) {
    if (capacity - count < 65536) {
      capacity = capacity * 2 + 65536;
      char *larger = realloc(bytes, capacity);
      if (larger == NULL) break;
      bytes = larger;
    }
    count += fread(bytes + count, 1, capacity - count, file);
  }
  int failed = !feof(file);
  fclose(file);
  if (failed) {
    fprintf(stderr, "%s: cannot be read\n", path);
    free(bytes);
    return NULL;
  }
  *length = count;
  return bytes;
}

/* Prints a text of the library and frees it. */
static void print(FILE *file, receiptkit_text *text) {
  fwrite(text->bytes, 1, text->length, file);
  fputc('\n', file);
  receiptkit_text_free(text);
}

int main(int argument_count, char **arguments) {
  if (argument_count < 3) {
    fprintf(stderr, "usage: verify POLICY RECEIPT...\n");
    return RECEIPTKIT_USAGE;
  }
  if (receiptkit_abi_version() != RECEIPTKIT_ABI_VERSION) {
    fprintf(stderr, "verify: libreceiptkit.so has another interface than the header\n");
    return RECEIPTKIT_INTERNAL;
  }
  size_t length;
  char *policy = contents(arguments[1], &length);
  if (policy == NULL) return RECEIPTKIT_UNREADABLE;
  receiptkit_handle verifier;
  receiptkit_text text;
  int status = receiptkit_verifier_create(policy, length, &verifier, &text);
  free(policy);
  if (status != 0) {
    print(stderr, &text);
    return status;
  }

  int worst = 0;
  for (int index = 2; index < argument_count; index++) {
    char *receipt = contents(arguments[index], &length);
    if (receipt == NULL) {
      worst = RECEIPTKIT_UNREADABLE;
      continue;
    }
    status = receiptkit_verify(verifier, receipt, length, &text);
    free(receipt);
    /* A valid receipt says that a purchase is real. Whether it still stands is another question: a JSON parser would read the
     * member `grantsAccess`; the first one is that of the receipt, before those of its transactions. */
    if (status == RECEIPTKIT_VALID) {
      const char *grants = strstr(text.bytes, "\"grantsAccess\":");
      if (grants == NULL || strncmp(grants, "\"grantsAccess\":true", 19) != 0) status = RECEIPTKIT_INVALID;
    }
    if (status > worst) worst = status;
    print(stdout, &text);
  }
  receiptkit_handle_free(verifier);
  return worst;
}
