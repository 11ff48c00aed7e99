// What the C library of WebAssembly has not got, in a module of one thread.
#include <errno.h>
#include <pthread.h>

// Objects of the thread live as long as the module.
int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* module) {
  (void)destroy;
  (void)object;
  (void)module;
  return 0;
}

// There is one thread: another one is refused, as by a system that has no more.
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  (void)thread;
  (void)attributes;
  (void)run;
  (void)argument;
  return EAGAIN;
}
int pthread_join(pthread_t thread, void** result) {
  (void)thread;
  (void)result;
  return ESRCH;
}
int pthread_detach(pthread_t thread) {
  (void)thread;
  return ESRCH;
}
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  (void)prepare;
  (void)parent;
  (void)child;
  return 0;
}

// The stack lies at the beginning of the memory (--stack-first), and __heap_base lies behind it and all constants.
extern char __stack_high;
int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) {
  (void)thread;
  return pthread_attr_init(attributes);
}
int pthread_attr_getstack(const pthread_attr_t* attributes, void** low, size_t* bytes) {
  (void)attributes;
  *low = (void*)0;
  *bytes = (size_t)&__stack_high;
  return 0;
}

// Users have numbers alone.
#include <pwd.h>
int getpwuid_r(uid_t user, struct passwd* entry, char* buffer, size_t bytes, struct passwd** found) {
  (void)user;
  (void)entry;
  (void)buffer;
  (void)bytes;
  *found = 0;
  return 0;
}
