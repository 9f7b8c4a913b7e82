#!/usr/bin/env bash
# conformance.sh FOLDER: installs the vendors' clients that run on the Node found (nodeNN/package-lock.json) into FOLDER,
# once, and lets conformance.mjs set them on the test server.  Exit 77, with a sentence, where that cannot be done; but
# never where the environment has CI, as continuous integration and bootstrap.sh test do: there it fails.
set -euo pipefail
sources=$(cd "$(dirname "$0")" && pwd)
folder=$1

give_up() {
  echo "the vendors' clients are not tried here: $*"
  if [[ -n ${CI:-} ]]; then exit 1; else exit 77; fi
}

command -v node >/dev/null || give_up "there is no Node (Debian: apt-get install nodejs npm)"
command -v npm >/dev/null || give_up "there is no npm (Debian: apt-get install npm)"
major=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
releases=''
for lock in 18 20 22; do
  if [[ $major -ge $lock ]]; then releases=node$lock; fi
done
[[ -n $releases ]] || give_up "Node $(node --version) is older than 18, the oldest that any of their releases runs on"

install_clients() {
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$sources/$releases"/package*.json "$folder"
  # Peers are left out as they are in the lock file: none of what is tried needs them.
  (cd "$folder" && npm ci --ignore-scripts --legacy-peer-deps --no-audit --no-fund --prefer-offline >npm.log 2>&1) ||
    { cat "$folder/npm.log"; give_up "npm cannot install them"; }
  cp "$sources/$releases/package-lock.json" "$folder/installed"
}

if ! cmp -s "$sources/$releases/package-lock.json" "$folder/installed"; then install_clients; fi
cp "$sources/conformance.mjs" "$folder"
echo "Node $(node --version), $(cd "$folder" && node -p 'Object.entries(require("./package.json").dependencies).map((e) => e.join(" ")).join(", ")')"

# The server serves until its standard input, one end of a pipe, is closed.
work=$(mktemp -d)
trap 'exec 3>&- || true; rm -rf "$work"' EXIT
mkfifo "$work/input"
python3 -B "$sources/../server/provider_server.py" "$work" <"$work/input" >"$work/ports" &
exec 3>"$work/input"
while [[ ! -s $work/ports ]]; do
  kill -0 $! || exit 1
  sleep 0.05
done
read -r port _ <"$work/ports"
# Proxies are for other hosts, and the clients' own settings must not leak in.
env -u OPENAI_API_KEY -u OPENAI_BASE_URL -u ANTHROPIC_API_KEY -u ANTHROPIC_AUTH_TOKEN -u ANTHROPIC_BASE_URL -u GOOGLE_API_KEY \
  -u GEMINI_API_KEY -u GOOGLE_GEMINI_BASE_URL no_proxy=127.0.0.1 node "$folder/conformance.mjs" "http://127.0.0.1:$port"
