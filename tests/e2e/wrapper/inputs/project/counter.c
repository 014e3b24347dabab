int next(void) {
  static int value;
  return ++value;
}
