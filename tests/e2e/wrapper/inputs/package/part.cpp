static int calls, sum;
int part(int x) {
  ++calls;
  return sum += x;
}
