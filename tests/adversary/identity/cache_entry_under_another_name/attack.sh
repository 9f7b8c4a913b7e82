. "$1/tests/adversary/attack.bash"
cheat=$source_folder/tests/adversary/checking/wrong_sign/kernel.cu
entries() { find "$XDG_CACHE_HOME/rkb/build" -type f -path '*/??/*'; }
rkb build "$twin" >/dev/null
honest=$(entries)
rkb build "$cheat" >/dev/null
wrong=$(entries | grep -v -F "$honest")
[[ -f $honest && -f $wrong ]] || fail "two builds are not two entries: $(entries)"
cp "$honest" "$work/kept"
cp "$wrong" "$honest"
cp "$work/kept" "$wrong"
refuses "$cheat" numeric.mismatch
rkb check "$twin" >"$work/said" || fail "the honest kernel is refused: $(cat "$work/said")"
