# SPDX-License-Identifier: Apache-2.0
# Sourced: runs kwhy serve in the background on a port that the system chooses. Needs $kwhy, and $place, a folder that
# is removed at the end.

# serve ARGUMENTS...: starts kwhy serve; sets $server (process) and $address (HOST:PORT)
serve() {
	: >"$place/serve.log"
	"$kwhy" serve --listen 127.0.0.1:0 "$@" 2>"$place/serve.log" &
	server=$!
	address=
	until [ -n "$address" ]; do
		kill -0 "$server" 2>/dev/null || { cat "$place/serve.log"; return 1; }
		address=$(sed -nE 's|.*https?://([^/]*)/metrics.*|\1|p' "$place/serve.log")
		sleep 0.05
	done
}

# stop_serving SIGNAL: ends the server, which must succeed
stop_serving() {
	kill -"$1" "$server"
	wait "$server"
}
