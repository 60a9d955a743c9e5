// SPDX-License-Identifier: Apache-2.0
#define OPENSSL_SUPPRESS_DEPRECATED
#include "COpenSSLFixedKey.h"

#include <string.h>

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/objects.h>

// The functions that make and report tables are deprecated since 3.0, and promised for as long as 3.x lasts.
#if OPENSSL_VERSION_MAJOR == 3 && !defined(OPENSSL_NO_DEPRECATED_3_0) && !defined(OPENSSL_NO_EC)

enum { digest_length = 32, integer_length = 32, signature_length = 2 * integer_length };

struct COpenSSL_FixedKey_table {
  EC_GROUP *curve;
  /// The curve once more, with the public key as its generator.
  EC_GROUP *keyed_curve;
  /// Moduli: the order n of the generator, and the prime p of the field.
  BN_MONT_CTX *order;
  BN_MONT_CTX *field;
  /// p − n
  BIGNUM *field_less_order;
  /// n − 2
  BIGNUM *order_less_two;
};

/// A signature whose r and s are in range.
typedef struct {
  size_t index;
  BIGNUM *r, *s;
  /// s of this entry and of all before it, multiplied.
  BIGNUM *product;
} entry;

struct COpenSSL_FixedKey_scratch {
  BN_CTX *context;
  EC_POINT *sum, *addend;
  BIGNUM *inverse, *weight, *scalar, *number, *x, *z;
  entry *entries;
  size_t capacity;
};

// MARK: The table

bool COpenSSL_FixedKey_available(void) {
  EC_GROUP *curve = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
  bool available = curve != NULL && EC_GROUP_have_precompute_mult(curve);
  EC_GROUP_free(curve);
  return available;
}

static bool make_keyed_curve(COpenSSL_FixedKey_table *table, const EC_POINT *key, BN_CTX *context) {
  table->keyed_curve = EC_GROUP_dup(table->curve);
  return table->keyed_curve != NULL &&
         EC_GROUP_set_generator(
             table->keyed_curve, key, EC_GROUP_get0_order(table->curve),
             EC_GROUP_get0_cofactor(table->curve)) &&
         EC_GROUP_precompute_mult(table->keyed_curve, context) &&
         EC_GROUP_have_precompute_mult(table->keyed_curve);
}

static bool make_moduli(COpenSSL_FixedKey_table *table, BN_CTX *context) {
  const BIGNUM *order = EC_GROUP_get0_order(table->curve);
  const BIGNUM *field = EC_GROUP_get0_field(table->curve);
  table->order = BN_MONT_CTX_new();
  table->field = BN_MONT_CTX_new();
  table->field_less_order = BN_new();
  table->order_less_two = BN_dup(order);
  return table->order != NULL && table->field != NULL && table->field_less_order != NULL &&
         table->order_less_two != NULL && BN_MONT_CTX_set(table->order, order, context) &&
         BN_MONT_CTX_set(table->field, field, context) && BN_sub(table->field_less_order, field, order) &&
         BN_sub_word(table->order_less_two, 2);
}

static bool is_valid_p256(const EC_KEY *key) {
  return key != NULL && EC_GROUP_get_curve_name(EC_KEY_get0_group(key)) == NID_X9_62_prime256v1 &&
         EC_KEY_check_key(key);
}

COpenSSL_FixedKey_table *COpenSSL_FixedKey_table_new(const EVP_PKEY *public_key) {
  const EC_KEY *key = EVP_PKEY_get0_EC_KEY(public_key);
  if (!COpenSSL_FixedKey_available() || !is_valid_p256(key)) return NULL;
  COpenSSL_FixedKey_table *table = OPENSSL_zalloc(sizeof *table);
  BN_CTX *context = BN_CTX_new();
  bool made = table != NULL && context != NULL &&
              (table->curve = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)) != NULL &&
              make_keyed_curve(table, EC_KEY_get0_public_key(key), context) && make_moduli(table, context);
  BN_CTX_free(context);
  if (made) return table;
  COpenSSL_FixedKey_table_free(table);
  return NULL;
}

void COpenSSL_FixedKey_table_free(COpenSSL_FixedKey_table *table) {
  if (table == NULL) return;
  BN_free(table->order_less_two);
  BN_free(table->field_less_order);
  BN_MONT_CTX_free(table->field);
  BN_MONT_CTX_free(table->order);
  EC_GROUP_free(table->keyed_curve);
  EC_GROUP_free(table->curve);
  OPENSSL_free(table);
}

// MARK: Scratch

static bool make_numbers(COpenSSL_FixedKey_scratch *scratch) {
  BIGNUM **numbers[] = {&scratch->inverse, &scratch->weight, &scratch->scalar,
                        &scratch->number,  &scratch->x,      &scratch->z};
  for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
    if ((*numbers[index] = BN_new()) == NULL) return false;
  }
  for (size_t index = 0; index < scratch->capacity; index++) {
    entry *each = &scratch->entries[index];
    if ((each->r = BN_new()) == NULL || (each->s = BN_new()) == NULL || (each->product = BN_new()) == NULL) {
      return false;
    }
  }
  return true;
}

COpenSSL_FixedKey_scratch *COpenSSL_FixedKey_scratch_new(size_t capacity) {
  COpenSSL_FixedKey_scratch *scratch = OPENSSL_zalloc(sizeof *scratch);
  if (scratch == NULL) return NULL;
  // A point remembers the curve that it was made for, not the group.
  EC_GROUP *curve = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
  bool made = curve != NULL && capacity > 0 && capacity <= SIZE_MAX / sizeof *scratch->entries &&
              (scratch->context = BN_CTX_new()) != NULL && (scratch->sum = EC_POINT_new(curve)) != NULL &&
              (scratch->addend = EC_POINT_new(curve)) != NULL &&
              (scratch->entries = OPENSSL_zalloc(capacity * sizeof *scratch->entries)) != NULL;
  EC_GROUP_free(curve);
  if (made) scratch->capacity = capacity;
  if (made && make_numbers(scratch)) return scratch;
  COpenSSL_FixedKey_scratch_free(scratch);
  return NULL;
}

void COpenSSL_FixedKey_scratch_free(COpenSSL_FixedKey_scratch *scratch) {
  if (scratch == NULL) return;
  for (size_t index = 0; index < scratch->capacity; index++) {
    BN_free(scratch->entries[index].product);
    BN_free(scratch->entries[index].s);
    BN_free(scratch->entries[index].r);
  }
  OPENSSL_free(scratch->entries);
  BIGNUM *numbers[] = {scratch->inverse, scratch->weight, scratch->scalar,
                       scratch->number,  scratch->x,      scratch->z};
  for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) BN_free(numbers[index]);
  EC_POINT_free(scratch->addend);
  EC_POINT_free(scratch->sum);
  BN_CTX_free(scratch->context);
  OPENSSL_free(scratch);
}

// MARK: Verification
//
// R stands for 2^256, and a ∘ b for a·b / R modulo n or p: what BN_mod_mul_montgomery computes. All its
// arguments must be less than the modulus.

typedef enum { failed = -1, invalid = 0, valid = 1 } answer;

static bool is_in_range(const BIGNUM *number, const BIGNUM *order) {
  return !BN_is_zero(number) && BN_cmp(number, order) < 0;
}

/// `inverse` becomes R / product. As n is prime, 1 / product is its power of n − 2 (Fermat): that takes a fifth less time
/// than BN_mod_inverse.
static bool invert(
    const COpenSSL_FixedKey_table *table, COpenSSL_FixedKey_scratch *scratch, const BIGNUM *product) {
  const BIGNUM *order = EC_GROUP_get0_order(table->curve);
  return BN_mod_exp_mont(
             scratch->number, product, table->order_less_two, order, scratch->context, table->order) &&
         BN_to_montgomery(scratch->inverse, scratch->number, table->order, scratch->context);
}

/// Whether X / Z² = x, for an x less than p. X and Z, of the point (X / Z², Y / Z³), are in the scratch. To
/// compare X with x·Z² saves the inversion that the affine coordinate would cost.
static answer has_affine_x(
    const COpenSSL_FixedKey_table *table, COpenSSL_FixedKey_scratch *scratch, const BIGNUM *x) {
  // Z·R ∘ Z = Z² and x·R ∘ Z² = x·Z².
  BIGNUM *z_squared = scratch->scalar, *scaled = scratch->number;
  if (!BN_to_montgomery(scaled, scratch->z, table->field, scratch->context) ||
      !BN_mod_mul_montgomery(z_squared, scaled, scratch->z, table->field, scratch->context) ||
      !BN_to_montgomery(scaled, x, table->field, scratch->context) ||
      !BN_mod_mul_montgomery(scaled, scaled, z_squared, table->field, scratch->context)) {
    return failed;
  }
  return BN_cmp(scaled, scratch->x) == 0 ? valid : invalid;
}

/// Whether the affine x coordinate of the sum, reduced modulo n, is r. May change r.
static answer has_reduced_x(
    const COpenSSL_FixedKey_table *table, COpenSSL_FixedKey_scratch *scratch, BIGNUM *r) {
  if (EC_POINT_is_at_infinity(table->curve, scratch->sum)) return invalid;
  if (!EC_POINT_get_Jprojective_coordinates_GFp(
          table->curve, scratch->sum, scratch->x, NULL, scratch->z, scratch->context)) {
    return failed;
  }
  answer result = has_affine_x(table, scratch, r);
  // n < p < 2n: a coordinate from n up to p − 1 is reduced too, and only then is r + n less than p.
  if (result == invalid && BN_cmp(r, table->field_less_order) < 0) {
    if (!BN_add(r, r, EC_GROUP_get0_order(table->curve))) return failed;
    result = has_affine_x(table, scratch, r);
  }
  return result;
}

/// With `weight` = R / s: whether the sum of u1·G = digest / s · G and u2·Q = r / s · Q has x coordinate r.
static answer verify_one(
    const COpenSSL_FixedKey_table *table, COpenSSL_FixedKey_scratch *scratch, const uint8_t *digest,
    BIGNUM *r) {
  const BIGNUM *order = EC_GROUP_get0_order(table->curve);
  if (BN_bin2bn(digest, digest_length, scratch->number) == NULL) return failed;
  if (BN_cmp(scratch->number, order) >= 0 && !BN_sub(scratch->number, scratch->number, order)) return failed;
  if (!BN_mod_mul_montgomery(
          scratch->scalar, scratch->number, scratch->weight, table->order, scratch->context) ||
      !EC_POINT_mul(table->curve, scratch->sum, scratch->scalar, NULL, NULL, scratch->context) ||
      !BN_mod_mul_montgomery(scratch->scalar, r, scratch->weight, table->order, scratch->context) ||
      !EC_POINT_mul(table->keyed_curve, scratch->addend, scratch->scalar, NULL, NULL, scratch->context) ||
      !EC_POINT_add(table->curve, scratch->sum, scratch->sum, scratch->addend, scratch->context)) {
    return failed;
  }
  return has_reduced_x(table, scratch, r);
}

/// Reads the signatures whose r and s are in range, and multiplies the s of all: s0, s0 ∘ s1, … Only these go
/// into the product, as a single zero would spoil it. Returns how many they are, −1 on failure.
static long read_signatures(
    const COpenSSL_FixedKey_table *table, COpenSSL_FixedKey_scratch *scratch, const uint8_t *signatures,
    size_t count) {
  const BIGNUM *order = EC_GROUP_get0_order(table->curve);
  long length = 0;
  for (size_t index = 0; index < count; index++) {
    const uint8_t *signature = signatures + index * signature_length;
    entry *each = &scratch->entries[length];
    if (BN_bin2bn(signature, integer_length, each->r) == NULL ||
        BN_bin2bn(signature + integer_length, integer_length, each->s) == NULL) {
      return -1;
    }
    if (!is_in_range(each->r, order) || !is_in_range(each->s, order)) continue;
    each->index = index;
    bool multiplied = length == 0 ? BN_copy(each->product, each->s) != NULL
                                  : BN_mod_mul_montgomery(
                                        each->product, scratch->entries[length - 1].product, each->s,
                                        table->order, scratch->context);
    if (!multiplied) return -1;
    length++;
  }
  return length;
}

/// P. L. Montgomery's way to many inverses by one inversion. Going back from the last entry, `inverse` is
/// R / product of the entry. So inverse ∘ product of the entry before is R / s, and inverse ∘ s is
/// R / product of the entry before.
static bool verify_entries(
    const COpenSSL_FixedKey_table *table, COpenSSL_FixedKey_scratch *scratch, long length,
    const uint8_t *digests, bool *answers) {
  for (long position = length - 1; position >= 0; position--) {
    entry *each = &scratch->entries[position];
    bool weighed = position == 0
                       ? BN_copy(scratch->weight, scratch->inverse) != NULL
                       : BN_mod_mul_montgomery(
                             scratch->weight, scratch->inverse, scratch->entries[position - 1].product,
                             table->order, scratch->context) &&
                             BN_mod_mul_montgomery(
                                 scratch->inverse, scratch->inverse, each->s, table->order, scratch->context);
    if (!weighed) return false;
    answer result = verify_one(table, scratch, digests + each->index * digest_length, each->r);
    if (result == failed) return false;
    answers[each->index] = result == valid;
  }
  return true;
}

bool COpenSSL_FixedKey_verify(
    const COpenSSL_FixedKey_table *table, COpenSSL_FixedKey_scratch *scratch, const uint8_t *signatures,
    const uint8_t *digests, size_t count, bool *answers) {
  memset(answers, 0, count * sizeof *answers);
  if (count > scratch->capacity) return false;
  long length = read_signatures(table, scratch, signatures, count);
  if (length == 0) return true;
  if (length > 0 && invert(table, scratch, scratch->entries[length - 1].product) &&
      verify_entries(table, scratch, length, digests, answers)) {
    return true;
  }
  memset(answers, 0, count * sizeof *answers);
  return false;
}

#else

bool COpenSSL_FixedKey_available(void) { return false; }

COpenSSL_FixedKey_table *COpenSSL_FixedKey_table_new(const EVP_PKEY *key) {
  (void)key;
  return NULL;
}

void COpenSSL_FixedKey_table_free(COpenSSL_FixedKey_table *table) { (void)table; }

COpenSSL_FixedKey_scratch *COpenSSL_FixedKey_scratch_new(size_t capacity) {
  (void)capacity;
  return NULL;
}

void COpenSSL_FixedKey_scratch_free(COpenSSL_FixedKey_scratch *scratch) { (void)scratch; }

bool COpenSSL_FixedKey_verify(
    const COpenSSL_FixedKey_table *table, COpenSSL_FixedKey_scratch *scratch, const uint8_t *signatures,
    const uint8_t *digests, size_t count, bool *answers) {
  (void)table, (void)scratch, (void)signatures, (void)digests;
  for (size_t index = 0; index < count; index++) answers[index] = false;
  return false;
}

#endif
