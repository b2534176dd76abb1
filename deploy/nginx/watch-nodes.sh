#!/bin/sh
# Asks the /readyz of each node, and writes the list of nodes for nginx: a node that is not ready is
# "down", which nginx itself would not notice while the node drains or cannot write to the database.
#
#   NODES="10.0.0.1:8080 10.0.0.2:8080" watch-nodes.sh
#
# nginx does not count failures itself (max_fails=0): one broken connection would take a node out.
# Needs curl, and the right to reload nginx. Run it once before nginx starts, with "once".
set -eu
: "${NODES:?the addresses of the nodes, separated by spaces}"
file=${NODES_FILE:-/etc/nginx/hamlet-nodes.conf}
reload=${NODES_RELOAD:-nginx -s reload}
seconds=${NODES_SECONDS:-2}

list_nodes() {
  for node in $NODES; do
    if curl --fail --silent --output /dev/null --max-time 10 "http://$node/readyz"; then
      echo "server $node max_fails=0;"
    else
      echo "server $node max_fails=0 down;"
    fi
  done
}

while :; do
  list_nodes >"$file.new"
  # If no node is ready, the list stays as it is: a node may serve although it cannot say so.
  if [ ! -e "$file" ] || { grep -qv ' down;' "$file.new" && ! cmp -s "$file.new" "$file"; }; then
    mv "$file.new" "$file"
    [ "${1:-}" = once ] || $reload || echo "Cannot reload nginx with $file" >&2
  fi
  [ "${1:-}" = once ] && exit 0
  sleep "$seconds"
done
