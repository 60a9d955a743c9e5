// SPDX-License-Identifier: Apache-2.0
// Engines are deprecated, not gone: on a system without a provider for PKCS#11, such as Debian 12, they are the only way to
// a token. OpenSSL 4 has none.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <string.h>

#include <openssl/store.h>
#include <openssl/ui.h>

#include "COpenSSL.h"

#if OPENSSL_VERSION_MAJOR == 3 && !defined(OPENSSL_NO_ENGINE)
#include <openssl/engine.h>
#define HAS_ENGINES 1
#endif

static int copy_pin(char *buffer, int size, int is_writing, void *pin) {
  (void)is_writing;
  size_t length = pin == NULL ? 0 : strlen(pin);
  if (length == 0 || length >= (size_t)size) return -1;
  memcpy(buffer, pin, length + 1);
  return (int)length;
}

EVP_PKEY *COpenSSL_OSSL_STORE_load_private_key(const char *uri, char *pin) {
  EVP_PKEY *key = NULL;
  UI_METHOD *method = UI_UTIL_wrap_read_pem_callback(copy_pin, 0);
  OSSL_STORE_CTX *store = method == NULL ? NULL : OSSL_STORE_open(uri, method, pin, NULL, NULL);
  if (store != NULL && OSSL_STORE_expect(store, OSSL_STORE_INFO_PKEY)) {
    while (key == NULL && !OSSL_STORE_eof(store)) {
      OSSL_STORE_INFO *info = OSSL_STORE_load(store);
      if (info == NULL) break;
      if (OSSL_STORE_INFO_get_type(info) == OSSL_STORE_INFO_PKEY) key = OSSL_STORE_INFO_get1_PKEY(info);
      OSSL_STORE_INFO_free(info);
    }
  }
  OSSL_STORE_close(store);
  UI_destroy_method(method);
  return key;
}

int COpenSSL_ENGINE_is_available(const char *name) {
#ifdef HAS_ENGINES
  ENGINE_load_dynamic();
  ENGINE *engine = ENGINE_by_id(name);
  ENGINE_free(engine);
  return engine != NULL;
#else
  (void)name;
  return 0;
#endif
}

EVP_PKEY *COpenSSL_ENGINE_load_private_key(const char *name, const char *module, const char *uri, char *pin) {
#ifdef HAS_ENGINES
  ENGINE_load_dynamic();
  ENGINE *engine = ENGINE_by_id(name);
  if (engine == NULL) return NULL;
  EVP_PKEY *key = NULL;
  UI_METHOD *method = UI_UTIL_wrap_read_pem_callback(copy_pin, 0);
  // It would print what goes wrong.
  ENGINE_ctrl_cmd_string(engine, "QUIET", NULL, 0);
  if (method != NULL && (module == NULL || ENGINE_ctrl_cmd_string(engine, "MODULE_PATH", module, 0)) &&
      ENGINE_init(engine)) {
    key = ENGINE_load_private_key(engine, uri, method, pin);
    // The key holds the engine from now on.
    ENGINE_finish(engine);
  }
  ENGINE_free(engine);
  UI_destroy_method(method);
  return key;
#else
  (void)name, (void)module, (void)uri, (void)pin;
  return NULL;
#endif
}
