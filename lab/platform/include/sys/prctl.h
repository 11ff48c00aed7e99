// Stands in for Linux's prctl: there is nothing to set.
#pragma once
#define PR_SET_NAME 15
#define PR_SET_TIMERSLACK 29
template <typename... Arguments>
int prctl(Arguments...) {
  return 0;
}
