/* A store of counters. */
#pragma once
#ifdef __cplusplus
extern "C" {
#endif

struct store;

struct store* store_make(void);
long store_get(struct store* store, int key);
void store_set(struct store* store, int key, long value);
/* Two steps, each locked for itself: not atomic. */
void store_add(struct store* store, int key, long value);
/* Takes the locks of the two stores, in this order. */
void store_move(struct store* from, struct store* to, int key);

#ifdef __cplusplus
}
#endif
