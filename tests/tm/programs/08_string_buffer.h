// A library whose code is not here; string_buffer.xml says what it reads and writes.
#pragma once

class Text {
 public:
  int length() const;
  void getChars(int from, int to, char* into) const;
  void append(const char* chars, int count);
  void erase();

 private:
  struct Hidden;
  Hidden* hidden_;
};
