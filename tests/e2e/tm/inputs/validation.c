// What was read before is compared with what is there now. right_* go on only if it is the same,
// wrong_* only if it is not, or whatever comes out.
#include <pthread.h>

static int x;

static int get(void) {
  int result;
  __transaction_atomic { result = x; }
  return result;
}

static void right_equal(void) {
  int old = get();
  __transaction_atomic {
    if (x == old) x = old + 1;
  }
}
static void wrong_unequal(void) {
  int old = get();
  __transaction_atomic {
    if (x != old) x = old + 1;
  }
}
static void right_else(void) {
  int old = get();
  __transaction_atomic {
    if (x != old) {
    } else {
      x = old + 1;
    }
  }
}
static void wrong_else(void) {
  int old = get();
  __transaction_atomic {
    if (old == x) {
    } else {
      x = old + 1;
    }
  }
}
static void right_not(void) {
  int old = get();
  __transaction_atomic {
    if (!(x != old)) x = old + 1;
  }
}
static void wrong_not(void) {
  int old = get();
  __transaction_atomic {
    if (!(x == old)) x = old + 1;
  }
}
static void right_and(int allowed) {
  int old = get();
  __transaction_atomic {
    if (allowed && x == old) x = old + 1;
  }
}
static void wrong_and(int allowed) {
  int old = get();
  __transaction_atomic {
    if (!(allowed && x == old)) x = old + 1;
  }
}
static void right_or(int forbidden) {
  int old = get();
  __transaction_atomic {
    if (!(forbidden || x != old)) x = old + 1;
  }
}
static void wrong_or(int allowed) {
  int old = get();
  __transaction_atomic {
    if (allowed || x == old) x = old + 1;
  }
}
static void right_return(void) {
  int old = get();
  __transaction_atomic {
    if (x != old) return;
    x = old + 1;
  }
}
static void wrong_return(void) {
  int old = get();
  __transaction_atomic {
    if (x == old) return;
    x = old + 1;
  }
}
static void wrong_sometimes(int allowed) {
  int old = get();
  __transaction_atomic {
    if (x != old) {
      if (!allowed) return;
    }
    x = old + 1;
  }
}
static void right_loop(void) {
  for (;;) {
    int old = get();
    __transaction_atomic {
      if (x == old) {
        x = old + 1;
        break;
      }
    }
  }
}
static void doubtful_asked_again(int n) {
  if (get() < n) {
    __transaction_atomic {
      if (x < n) x = n;
    }
  }
}
static void wrong_asked_too_late(int n) {
  if (get() < n) {
    __transaction_atomic {
      x = n;
      if (x < n) x = n;
    }
  }
}

static void* run(void* n) {
  int allowed = *(int*)n;
  right_equal();
  wrong_unequal();
  right_else();
  wrong_else();
  right_not();
  wrong_not();
  right_and(allowed);
  wrong_and(allowed);
  right_or(allowed);
  wrong_or(allowed);
  right_return();
  wrong_return();
  wrong_sometimes(allowed);
  right_loop();
  doubtful_asked_again(allowed);
  wrong_asked_too_late(allowed);
  return n;
}

int main(void) {
  pthread_t one, other;
  int n = 1;
  pthread_create(&one, 0, run, &n);
  pthread_create(&other, 0, run, &n);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
