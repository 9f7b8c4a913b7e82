. "$1/tests/adversary/attack.bash"
cheat=$source_folder/tests/adversary/checking/wrong_sign/kernel.cu
entries() { find "$XDG_CACHE_HOME/rkb/build" -type f -path '*/??/*'; }
rkb build "$twin" >/dev/null
honest=$(entries)
rkb build "$cheat" >/dev/null
wrong=$(entries | grep -v -F "$honest")
ln -sf "$honest" "$wrong"
refuses "$cheat" numeric.mismatch
