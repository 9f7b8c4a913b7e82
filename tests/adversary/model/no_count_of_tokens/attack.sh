. "$1/tests/adversary/attack.bash"
cat >"$work/server.py" <<'END'
import http.server, json, sys

class Model(http.server.BaseHTTPRequestHandler):
    def log_message(self, *words):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        reply = {"id": "x", "object": "chat.completion", "model": "m", "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "I know none."}}]}
        text = json.dumps(reply)[:-1] + (', "usage": ' + sys.argv[1] if sys.argv[1] else "") + "}"
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(server.server_port, flush=True)
server.serve_forever()
END
number=0
for usage in '' 'null' '[1, 2]' '{"prompt_tokens": -5, "completion_tokens": -9}' '{"prompt_tokens": "400", "completion_tokens": "9"}' \
  '{"prompt_tokens": 400.5, "completion_tokens": 9}' '{"prompt_tokens": 0, "completion_tokens": 0}' \
  '{"prompt_tokens": 900000000000, "completion_tokens": 900000000000}' '{"prompt_tokens": NaN, "completion_tokens": NaN}'; do
  number=$((number + 1))
  rm -f "$work/port"
  mkfifo "$work/port"
  python3 "$work/server.py" "$usage" >"$work/port" &
  server=$!
  read -r port <"$work/port"
  cat >"$work/model.yaml" <<END
rkb: 1
name: model
seed: 1
task: $source_folder/tasks/llama_rmsnorm
direction: forward
target: h200
limits: {cost_usd: 1}
models: {m: {provider: openai, model: m, base_url: "http://127.0.0.1:$port/v1", key: {env: KEY}, stream: false, max_output_tokens: 1000, price: {input: 1, output: 10}, retries: 0, check: false}}
propose:
  - {use: rkb.translator.llm, id: translate, deadline: $deadline, with: {proposals: 1, models: [{model: m}]}}
screen:
  - use: rkb.verifier.lint
END
  KEY=a_key_of_the_user timeout 60 rkb-run "$work/model.yaml" --quiet --out "$work/run$number" >"$work/said" 2>&1 || [[ $? -le 2 ]] || fail "rkb-run did not end well: $(cat "$work/said")"
  kill "$server"
  wait "$server" || true
  [[ $(count_of "$work/run$number" 'SELECT count(*) FROM call WHERE estimated AND cost_usd = reserved_usd AND cost_usd > 0.01') == 1 ]] || fail "usage $usage: what was reserved is not charged"
  rkb report "$work/run$number" >"$work/report"
  grep -q 'by our own count' "$work/report" || fail "usage $usage: the report does not say that the charge is our own count"
done
