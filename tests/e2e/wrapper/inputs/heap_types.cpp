#include <cstdlib>
namespace bank {
struct Account {
  int balance;
};
typedef Account Renamed;
template <class T>
struct Node {
  T value;
  Node* next;
};
}  // namespace bank
extern "C" void keep(void* p);
void keep(void* p) { std::free(p); }
int main() {
  keep(new bank::Account);
  keep(new bank::Renamed[3]);
  keep(new bank::Node<int>{1, nullptr});
  keep(new char*[2]);
  auto* account = static_cast<bank::Account*>(std::malloc(sizeof(bank::Account)));
  keep(account);
  int* numbers = (int*)calloc(3, sizeof(int));
  keep(numbers);
  keep(std::malloc(3));
}
