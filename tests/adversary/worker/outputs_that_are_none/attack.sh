. "$1/tests/adversary/attack.bash"
through_worker 'a reply of another length' /usr/bin/env python3 "$source_folder/tests/gpu/worker/hostile_worker.py" well
