# complete.bash SCRIPT WORD...: what bash offers for the last word.
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_tomos
echo "${COMPREPLY[*]} "
