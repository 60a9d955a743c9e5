// SPDX-License-Identifier: Apache-2.0
// Inversion modulo the order of P-256 by the division steps of D. J. Bernstein and B.-Y. Yang, "Fast
// constant-time gcd computation and modular inversion" (2019), here with branches, as nothing is secret.
//
// A division step takes (δ, f, g), f odd, to
//     (1 − δ, g, (g − f) / 2)   where δ > 0 and g is odd,
//     (1 + δ, f, (g + f) / 2)   where δ ≤ 0 and g is odd,
//     (1 + δ, f, g / 2)         where g is even.
// From f = n and g = value it reaches g = 0 and f = ±1. Which case comes next depends on low bits only, so 62
// steps are taken on single words and then applied to the long numbers as one 2 × 2 matrix. Beside f and g go
// d and e, with d · value ≡ f and e · value ≡ g modulo n: at the end d is the inverse, but for the sign.
#include "COpenSSLFixedKey.h"

#if defined(__SIZEOF_INT128__)

enum { limb_count = 5, steps_at_once = 62 };

/// A number in two's complement, the lowest limb first.
typedef struct {
  uint64_t limb[limb_count];
} long_number;

/// What so many steps do to (f, g): (u·f + v·g, q·f + r·g) / 2^62. |u| + |v| and |q| + |r| are at most 2^62.
typedef struct {
  int64_t u, v, q, r;
} step_matrix;

static const long_number order = {
    {0xF3B9CAC2FC632551, 0xBCE6FAADA7179E84, 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF00000000, 0}};

static bool is_negative(const long_number *number) { return number->limb[limb_count - 1] >> 63; }

static bool is_zero(const long_number *number) {
  uint64_t bits = 0;
  for (int index = 0; index < limb_count; index++) bits |= number->limb[index];
  return bits == 0;
}

/// Limb `index` as a term of a sum: only the highest limb carries the sign.
static __int128 term(const long_number *number, int index) {
  return index == limb_count - 1 ? (__int128)(int64_t)number->limb[index] : (__int128)number->limb[index];
}

/// Takes 62 steps on the low words of f and g. Returns the new δ.
static int64_t take_steps(int64_t delta, uint64_t f, uint64_t g, step_matrix *matrix) {
  // Unsigned, so that they may be negative modulo 2^64 and still be shifted.
  uint64_t u = 1, v = 0, q = 0, r = 1;
  int left = steps_at_once;
  for (;;) {
    int zeros = __builtin_ctzll(g | UINT64_MAX << left);
    g >>= zeros;
    u <<= zeros;
    v <<= zeros;
    delta += zeros;
    left -= zeros;
    if (left == 0) break;
    if (delta > 0) {
      uint64_t old_f = f, old_u = u, old_v = v;
      delta = -delta;
      f = g;
      u = q;
      v = r;
      g = -old_f;
      q = -old_u;
      r = -old_v;
    }
    g += f;
    q += u;
    r += v;
  }
  *matrix = (step_matrix){(int64_t)u, (int64_t)v, (int64_t)q, (int64_t)r};
  return delta;
}

/// (x·a + y·b + z·n) / 2^62, which the caller has made sure is whole. With |x| + |y| ≤ 2^62 and |z| ≤ 2^61 no
/// partial sum leaves 128 bits.
static long_number combine(
    int64_t x, const long_number *a, int64_t y, const long_number *b, int64_t z) {
  uint64_t product[limb_count + 1];
  __int128 sum = 0;
  for (int index = 0; index < limb_count; index++) {
    sum += x * term(a, index) + y * term(b, index) + z * term(&order, index);
    product[index] = (uint64_t)sum;
    sum >>= 64;
  }
  product[limb_count] = (uint64_t)sum;
  long_number result;
  for (int index = 0; index < limb_count; index++) {
    result.limb[index] = product[index] >> steps_at_once | product[index + 1] << (64 - steps_at_once);
  }
  return result;
}

/// The z between −2^61 and 2^61 for which x·a + y·b + z·n is a multiple of 2^62.
static int64_t multiple_of_order(
    int64_t x, const long_number *a, int64_t y, const long_number *b, uint64_t order_inverse) {
  uint64_t low = (uint64_t)x * a->limb[0] + (uint64_t)y * b->limb[0];
  return (int64_t)(-low * order_inverse << 2) >> 2;
}

static long_number adding_multiple_of_order(const long_number *number, int64_t times) {
  long_number result;
  __int128 sum = 0;
  for (int index = 0; index < limb_count; index++) {
    sum += term(number, index) + times * term(&order, index);
    result.limb[index] = (uint64_t)sum;
    sum >>= 64;
  }
  return result;
}

static long_number negated(const long_number *number) {
  long_number result;
  unsigned __int128 sum = 1;
  for (int index = 0; index < limb_count; index++) {
    sum += ~number->limb[index];
    result.limb[index] = (uint64_t)sum;
    sum >>= 64;
  }
  return result;
}

bool COpenSSL_FixedKey_inverse(const uint8_t value[32], uint8_t inverse[32]) {
  long_number f = order, g = {{0}}, d = {{0}}, e = {{1}};
  for (int index = 0; index < 32; index++) {
    g.limb[index / 8] |= (uint64_t)value[31 - index] << (8 * (index % 8));
  }
  // Newton's iteration: right in 3 bits at first (n · n ≡ 1 modulo 8), in twice as many after each round.
  uint64_t order_inverse = order.limb[0];
  for (int bits = 3; bits < 64; bits *= 2) order_inverse *= 2 - order.limb[0] * order_inverse;

  // 741 steps are enough for 256 bits (theorem 11.2). Each round lets d and e grow by half of n at most.
  int64_t delta = 1;
  for (int rounds = 0; !is_zero(&g); rounds++) {
    if (rounds == 12) return false;
    step_matrix by;
    delta = take_steps(delta, f.limb[0], g.limb[0], &by);
    long_number new_f = combine(by.u, &f, by.v, &g, 0);
    g = combine(by.q, &f, by.r, &g, 0);
    f = new_f;
    long_number new_d = combine(by.u, &d, by.v, &e, multiple_of_order(by.u, &d, by.v, &e, order_inverse));
    e = combine(by.q, &d, by.r, &e, multiple_of_order(by.q, &d, by.r, &e, order_inverse));
    d = new_d;
  }

  if (is_negative(&f)) d = negated(&d);
  while (!is_negative(&d)) d = adding_multiple_of_order(&d, -1);
  while (is_negative(&d)) d = adding_multiple_of_order(&d, 1);
  for (int index = 0; index < 32; index++) {
    inverse[31 - index] = (uint8_t)(d.limb[index / 8] >> (8 * (index % 8)));
  }
  return true;
}

#else

bool COpenSSL_FixedKey_inverse(const uint8_t value[32], uint8_t inverse[32]) {
  (void)value;
  (void)inverse;
  return false;
}

#endif
