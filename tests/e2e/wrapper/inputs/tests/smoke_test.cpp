// Fails by itself: without findings a test's status is the program's.
int main(int argc, char** /*argv*/) { return argc == 2 ? 3 : 0; }
