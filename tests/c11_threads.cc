// C11's threads, mutexes and conditions by those of POSIX, whose types the C library shares with them. For
// ThreadSanitizer, which follows POSIX' alone: of a thread that C11's thrd_create() has begun it knows
// nothing, and dies where that calls what it watches. librdkafka's are.
//
// How         these take the place of the C library's in the program that links them, also for the libraries
//             that it loads.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <memory>

namespace {

struct Body {
  thrd_start_t run;
  void* argument;
};

void* run(void* given) {
  const std::unique_ptr<Body> body(static_cast<Body*>(given));
  return reinterpret_cast<void*>(static_cast<intptr_t>(body->run(body->argument)));
}

int told(int error) {
  if (error == 0) return thrd_success;
  if (error == EBUSY) return thrd_busy;
  if (error == ETIMEDOUT) return thrd_timedout;
  return error == ENOMEM ? thrd_nomem : thrd_error;
}

pthread_mutex_t* posix(mtx_t* mutex) {
  static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t));
  return reinterpret_cast<pthread_mutex_t*>(mutex);
}
pthread_cond_t* posix(cnd_t* condition) {
  static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t));
  return reinterpret_cast<pthread_cond_t*>(condition);
}

}  // namespace

extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t body, void* argument) {
  auto given = std::make_unique<Body>(body, argument);
  const int result = told(pthread_create(thread, nullptr, run, given.get()));
  if (result == thrd_success) (void)given.release();  // run() frees it
  return result;
}

int thrd_join(thrd_t thread, int* result) {
  void* returned = nullptr;
  const int error = pthread_join(thread, &returned);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<intptr_t>(returned));
  return told(error);
}

int mtx_init(mtx_t* mutex, int kind) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes,
                            (kind & mtx_recursive) != 0 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_DEFAULT);
  const int error = pthread_mutex_init(posix(mutex), &attributes);
  pthread_mutexattr_destroy(&attributes);
  return told(error);
}
int mtx_lock(mtx_t* mutex) {
  return told(pthread_mutex_lock(posix(mutex)));
}
int mtx_trylock(mtx_t* mutex) {
  return told(pthread_mutex_trylock(posix(mutex)));
}
int mtx_unlock(mtx_t* mutex) {
  return told(pthread_mutex_unlock(posix(mutex)));
}
void mtx_destroy(mtx_t* mutex) {
  pthread_mutex_destroy(posix(mutex));
}

int cnd_init(cnd_t* condition) {
  return told(pthread_cond_init(posix(condition), nullptr));
}
int cnd_signal(cnd_t* condition) {
  return told(pthread_cond_signal(posix(condition)));
}
int cnd_broadcast(cnd_t* condition) {
  return told(pthread_cond_broadcast(posix(condition)));
}
int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return told(pthread_cond_wait(posix(condition), posix(mutex)));
}
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return told(pthread_cond_timedwait(posix(condition), posix(mutex), until));
}
void cnd_destroy(cnd_t* condition) {
  pthread_cond_destroy(posix(condition));
}

}  // extern "C"
