int part(int x);
int main() { return part(0); }
