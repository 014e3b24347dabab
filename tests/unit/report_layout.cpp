#include <gtest/gtest.h>

#include <string>

#include "report/layout.h"

namespace tomos {
namespace {

TEST(Printable, LeavesTextAlone) {
  EXPECT_EQ(printable("balance ü 漢 🙂"), "balance ü 漢 🙂");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, DisarmsControlCharacters) {
  EXPECT_EQ(printable("a\x1b[31mb\nc\x7f"), "a\\x1b[31mb\\x0ac\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");  // U+009B is an escape sequence of one character
}

TEST(Printable, ShowsBytesThatAreNotText) {
  EXPECT_EQ(printable("\xff\x80"), "\\xff\\x80");
  EXPECT_EQ(printable("a\xc3"), "a\\xc3");                           // cut off
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond the last character
}

TEST(Fit, CutsWhereItIsTold) {
  EXPECT_EQ(fit("account.cpp:13", 14, Cut::kHead), "account.cpp:13");
  EXPECT_EQ(fit("account.cpp:13", 10, Cut::kHead), "..t.cpp:13");
  EXPECT_EQ(fit("account.cpp:13", 10, Cut::kTail), "account...");
  EXPECT_EQ(fit("abc", 2, Cut::kTail), "..");
  EXPECT_EQ(fit("abc", 1, Cut::kHead), ".");
  EXPECT_EQ(fit("abc", 0, Cut::kHead), "");
}

TEST(Fit, NeverCutsACharacterInTwo) {
  EXPECT_EQ(fit("üüüüü", 4, Cut::kTail), "üü..");
  EXPECT_EQ(fit("üüüüü", 4, Cut::kHead), "..üü");
  EXPECT_EQ(width("üüüüü"), 5U);
  EXPECT_EQ(pad("ü", 3), "ü  ");
}

TEST(Wrap, BreaksAtBlanksAndIndents) {
  EXPECT_EQ(wrap("  Fix: ", "hold the lock from here to there", 22),
            "  Fix: hold the lock\n"
            "       from here to\n"
            "       there\n");
  EXPECT_EQ(wrap("", "averyveryverylongword a", 5), "averyveryverylongword\na\n");
  EXPECT_EQ(wrap("- ", "", 10), "- \n");
}

}  // namespace
}  // namespace tomos
