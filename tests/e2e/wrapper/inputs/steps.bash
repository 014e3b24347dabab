#!/usr/bin/env bash
# steps.bash CC CXX DIR: every way to call a compiler that build systems have, without a warning.
set -eu
cc="$1 -Werror" cxx="$2 -Werror"
mkdir -p "$3" && cd "$3"
unset CPATH

cat > main.cpp <<'X'
#include <cstdio>
extern "C" int twice(int);
int count();
int main() { int a = twice(count()), b = count(); std::printf("%d %d\n", a, b); }
X
echo 'int count() { static int c = 1; return ++c; }' > count.cpp
echo 'int twice(int x) { return 2 * x; }' > twice.c
printf '.globl nothing\nnothing: ret\n.section .note.GNU-stack,"",@progbits\n' > nothing.s
cp nothing.s something.S

step() { echo "step: $*" >&2; }
prints() {  # PROGRAM TEXT, and the runtime is there, the sanitizer's is not
  [ "$("./$1")" = "$2" ] || { echo "$1 does not print $2" >&2; exit 1; }
  ldd "./$1" > ldd.txt
  grep -q libtomos_rt.so ldd.txt || { echo "$1 is without the runtime" >&2; exit 1; }
  ! grep -q tsan ldd.txt || { echo "$1 has the sanitizer's runtime" >&2; exit 1; }
}
instrumented() { nm "$1" | grep -q __tsan_func_entry || { echo "$1 is not instrumented" >&2; exit 1; }; }

step one by one
$cc -c twice.c; $cxx -O2 -c count.cpp main.cpp
instrumented main.o
$cxx main.o count.o twice.o -o all && prints all "4 3"

step several sources at once, two languages
$cxx main.cpp count.cpp -x c twice.c -o all && prints all "4 3"

step preprocess, then compile, then assemble
$cxx -E main.cpp -o main.ii && $cxx -S main.ii -o main.s && $cxx -c main.s -o main.o
instrumented main.o
$cxx main.o count.cpp twice.o -o all && prints all "4 3"
$cxx -E -dM -x c++ /dev/null | grep -q '__TOMOS__ 1'

echo __TOMOS__ | $cc -E - | grep -q '^1'

step dependencies
$cxx -MM main.cpp | grep -q 'main.o: main.cpp'
$cxx -M main.cpp | grep -q cstdio
$cxx -MD -MP -MF main.d -MT here -c main.cpp && grep -q '^here: main.cpp' main.d
$cxx -fsyntax-only main.cpp

step shared libraries
$cc -fPIC -shared twice.c -o libtwice.so && ldd libtwice.so | grep -q libtomos_rt.so
$cxx main.cpp count.cpp -L. -ltwice -Wl,-rpath,"$PWD" -o all && prints all "4 3"
$cxx -nostdlib -fPIC -shared count.cpp -o libcount.so

step archives, as only the linker sees them
rm -f libcount.a && ar qc libcount.a count.o
$cxx main.o twice.o -Wl,--whole-archive,libcount.a,--no-whole-archive -Wl,--as-needed -o all && prints all "4 3"

step response files
echo "main.cpp 'count.cpp' -o  \"a b\"" > inner.rsp
echo 'twice.o @inner.rsp' > outer.rsp
$cxx @outer.rsp && prints "a b" "4 3"

step standard input
echo 'int main() { return 5; }' | $cxx -x c++ - -o in
status=0; ./in || status=$?; [ $status -eq 5 ]

step assembler
$cc -c nothing.s && $cc -c something.S && $cc -r nothing.o -o both.o
$cc -nostdlib -shared something.S -o libnothing.so

step precompiled headers
echo '#include <vector>' > all.h
$cxx -x c++-header all.h -o all.h.gch
$cxx -Winvalid-pch -include all.h -c count.cpp -o count.o
rm all.h.gch

step link-time optimisation
$cxx -O2 -flto main.cpp count.cpp twice.o -o all && prints all "4 3" && nm all | grep -q __tsan_

step every linker
for linker in bfd gold lld; do
  command -v ld.$linker > /dev/null || continue
  $cxx -fuse-ld=$linker main.o count.o twice.o -o all && prints all "4 3"
done

step with the undefined behaviour sanitizer
echo 'int main(int c, char**) { int x = 2147483647; x += c; return x == 0; }' > ub.cpp
$cxx -fsanitize=undefined ub.cpp -o ub && ./ub 2> ub.txt; grep -q 'signed integer overflow' ub.txt

step -fsanitize=thread of their own
$cxx -fsanitize=thread -c main.cpp && $cxx -fsanitize=thread main.o count.o twice.o -o all && prints all "4 3"

step a file that is not to be watched
$cxx -fno-sanitize=thread -c main.cpp && ! nm main.o | grep -q __tsan_
$cxx main.o count.o twice.o -o all && prints all "4 3"

step debugging information
$cc -c twice.c && readelf -S twice.o | grep -q debug_info
$cc -g0 -c twice.c && ! readelf -S twice.o | grep -q debug_info

step errors are the compiler\'s
echo 'int f(' > bad.c
status=0; $cc -c bad.c 2> bad.txt || status=$?; [ $status -eq 1 ] && grep -q 'bad.c:1' bad.txt
status=0; $cc twice.c -lnothere -o all 2> bad.txt || status=$?; [ $status -eq 1 ]
status=0; $cc -c nothere.c 2> bad.txt || status=$?; [ $status -eq 1 ]
