// SPDX-License-Identifier: Apache-2.0

#include "libcurl.h"

#include <dlfcn.h>
#include <pthread.h>

CCurl_library libcurl;

static int is_loaded;

static void load(void) {
#ifdef __APPLE__
  void *library = dlopen("libcurl.4.dylib", RTLD_NOW | RTLD_LOCAL);
#else
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
#endif
  if (!library) return;
  int is_complete = 1;
#define FIND(name)                                                    \
  do {                                                                \
    *(void **)&libcurl.name = dlsym(library, "curl_" #name);          \
    if (!libcurl.name) is_complete = 0;                               \
  } while (0)
  FIND(global_init);
  FIND(easy_init);
  FIND(easy_cleanup);
  FIND(easy_setopt);
  FIND(easy_getinfo);
  FIND(easy_strerror);
  FIND(version);
  FIND(slist_append);
  FIND(slist_free_all);
  FIND(multi_init);
  FIND(multi_cleanup);
  FIND(multi_setopt);
  FIND(multi_add_handle);
  FIND(multi_remove_handle);
  FIND(multi_perform);
  FIND(multi_poll);
  FIND(multi_wakeup);
  FIND(multi_info_read);
#undef FIND
  is_loaded = is_complete && libcurl.global_init(CCURL_GLOBAL_DEFAULT) == 0;
}

int CCurl_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_loaded;
}

const char *CCurl_version(void) { return CCurl_load() ? libcurl.version() : 0; }
