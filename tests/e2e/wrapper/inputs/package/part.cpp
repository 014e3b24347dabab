int part(int x) { return x; }
