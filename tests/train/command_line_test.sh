#!/usr/bin/env bash
# The program from outside: bad input gives one line and exit code 2, Ctrl-C leaves a report.
#   command_line_test.sh BIRD FOLDER
set -u
bird=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# refuses PART ARGUMENT...: exit code 2, nothing on stdout but a headline, one line on stderr that holds PART.
refuses() {
  local part=$1
  shift
  "$bird" "$@" >out 2>err </dev/null
  local code=$?
  [ "$code" -eq 2 ] || fail "bird $*: exit code $code, expected 2"
  [ "$(wc -l <err)" -eq 1 ] || fail "bird $*: not one line: $(cat err)"
  grep -qF -- "$part" err || fail "bird $*: '$part' is not in: $(cat err)"
}

refuses "subcommand" 
refuses "frobnicate" frobnicate
refuses "--frobnicate" train --frobnicate
refuses "--workers" train --workers many
refuses "--workers is 0" train --workers 0
refuses "--workers is -3" train --workers -3
refuses "--epochs is 0" train --epochs 0
refuses "--batch is 0" train --batch 0
refuses "--ratio is 0" train --ratio 0
refuses "--ratio is 1.5" train --ratio 1.5
refuses "--ratio is nan" train --ratio nan
refuses "--reply-ratio is 2" train --reply-ratio 2
refuses "gamma is -1" train --codec paper --gamma -1
refuses "blind" train --blind
refuses "--learning-rate is -0.1" train --learning-rate -0.1
refuses "--momentum is 1" train --momentum 1
refuses "--link-mbps is -1" train --link-mbps -1
refuses "--skew is -2" train --skew -2
refuses "--groups is 9" train --sync dsync --groups 9
refuses "--period is 0" train --sync dsync --period 0
refuses "--local-steps is 0" train --local-steps 0
refuses "--model" train --model resnet
refuses "--codec" train --codec zip
refuses "--method" train --method magic
refuses "--feedback residual" train --feedback residual
refuses "--seed" train --seed -1
refuses "--tile" train --tile -8
refuses "--train-limit" train --train-limit -5
refuses "train-images-idx3-ubyte.gz: no such file; install the data with \`apt-get install" train --data "$work/nowhere"

mkdir damaged
for name in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
  echo "not a data set" >"damaged/$name-ubyte.gz"
done
refuses "damaged/train-images-idx3-ubyte.gz: is not a gzip file" train --data damaged

touch file
refuses "file" train --output file/report
refuses "file" train --dump-gradients file/gradients

# A short run: exit code 0, report.json with what the issue asks for, gradients where they were asked for.
small=(--model mlp --epochs 1 --train-limit 2560 --test-limit 500 --workers 2)
"$bird" train "${small[@]}" --output report --dump-gradients gradients >out 2>err </dev/null || fail "short run: $(cat err)"
for key in method codec seed workers epochs test_accuracy bytes_up bytes_down dense_bytes_up dense_bytes_down seconds curve; do
  grep -q "\"$key\"" report/report.json || fail "report.json lacks $key"
done
[ -s report/report.html ] || fail "report.html is missing"
[ -s gradients/gradient-mlp-step0.safetensors ] || fail "gradients were not dumped"
grep -q "compression gains no time" out || fail "the summary is silent about loopback"
grep -q $'\x1b' out && fail "control characters although stdout is no terminal"

"$bird" train "${small[@]}" --output report --quiet >out 2>err </dev/null
[ -s out ] && fail "--quiet printed: $(cat out)"

"$bird" train "${small[@]}" --output report --json >out 2>err </dev/null
head -c 1 out | grep -q '{' || fail "--json printed no object"

# Ctrl-C, once the first epoch line shows that the run is under way.
"$bird" train --model mlp --epochs 10000 --train-limit 2560 --test-limit 100 --output interrupted >out 2>err </dev/null &
pid=$!
for _ in $(seq 200); do
  grep -q "^epoch" out && break
  sleep 0.1
done
kill -INT "$pid"
wait "$pid"
code=$?
[ "$code" -eq 130 ] || fail "Ctrl-C: exit code $code, expected 130: $(cat err)"
grep -q '"interrupted": *true' interrupted/report.json || fail "Ctrl-C: report.json does not say so"

# A rate that cannot work: exit code 1 and advice in one line.
"$bird" train "${small[@]}" --learning-rate 1000 --output diverged >out 2>err </dev/null
code=$?
[ "$code" -eq 1 ] || fail "diverged run: exit code $code, expected 1"
grep -q "omega" err || fail "diverged run: no advice in: $(cat err)"

[ "$failures" -eq 0 ] && echo "all checks passed"
exit "$((failures > 0))"
