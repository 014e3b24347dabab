#!/bin/sh
# Stands for gdb -q -ex 'set exec-wrapper env NAME=VALUE...' --args PROGRAM ARGUMENT...
wrapper=${3#set exec-wrapper }
shift 4
eval "exec_with() { $wrapper \"\$@\"; }"
exec_with "$@"
echo "it ended with $?"
