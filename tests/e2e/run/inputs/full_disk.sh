# full_disk.sh TOMOS PROGRAM FOLDER: records the program on disks that are too small, mounted on FOLDER, and shows what comes out.
# In a mount namespace of its own, as `unshare -rm` gives.
tomos=$1 program=$2 disk=$3
say() { echo "== $*"; }
small_disk() {
  say "a disk of $1"
  umount "$disk" 2>/dev/null
  mount -t tmpfs -o "size=$1" none "$disk" || exit 1
}

small_disk 260k  # the head of a recording and four chunks: nothing is left
TMPDIR=$disk "$tomos" run --record-all -- "$program"
say "status $?"
"$tomos" record --record-all -o "$disk/run.tomos" -- "$program"
say "status $?"
say "what is left"
recording=$(echo "$disk"/*/recording)
"$tomos" check "$recording"
mount -o remount,size=1m "$disk"
"$tomos" convert "$recording" "$disk/run.tomos"
say "status $?"
"$tomos" check "$disk/run.tomos"

small_disk 64k
"$tomos" record --record-all -o "$disk/run.tomos" -- "$program"
say "status $?"

small_disk 4k
dd if=/dev/zero of="$disk/full" bs=4k count=1 status=none
TMPDIR=$disk "$tomos" run -- "$program"
say "status $?"
