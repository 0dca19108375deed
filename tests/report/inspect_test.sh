#!/bin/sh
# bird inspect shows a packet's sections and a dump's tensors, and refuses anything else with one line.
# Usage: inspect_test.sh PROGRAM PACKET FOLDER
set -eu
program=$1 packet=$2 folder=$3
mkdir -p "$folder"

fail() {
  echo "FAILED: $1" >&2
  exit 1
}

"$program" inspect "$packet" > "$folder/packet.txt"
for word in 'version 1' segments index values 'slots of'; do
  grep -q "$word" "$folder/packet.txt" || fail "a packet's description lacks \"$word\""
done

# Two floats, 0 and 2: half of them zero.
header='{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  '
{
  printf '\070\000\000\000\000\000\000\000%s' "$header"
  printf '\000\000\000\000\000\000\000\100'
} > "$folder/two.safetensors"
"$program" inspect "$folder/two.safetensors" | grep -q '^w .*50.0 %' || fail "zeros of a dump are not counted"

refused() { # FILE WHAT
  status=0
  "$program" inspect "$1" > "$folder/out.txt" 2> "$folder/err.txt" || status=$?
  [ "$status" -eq 2 ] || fail "$2: exit code $status"
  [ "$(wc -l < "$folder/err.txt")" -eq 1 ] || fail "$2: not one line"
  [ ! -s "$folder/out.txt" ] || fail "$2: something was printed"
}
head -c 100 "$packet" > "$folder/short"
refused "$folder/short" "half a packet"
printf 'hello' > "$folder/text"
refused "$folder/text" "a text"
printf '' > "$folder/empty"
refused "$folder/empty" "an empty file"
refused "$folder/missing" "a missing file"
head -c 70 "$folder/two.safetensors" > "$folder/cut.safetensors"
refused "$folder/cut.safetensors" "half a dump"
