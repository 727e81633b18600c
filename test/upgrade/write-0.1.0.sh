#!/usr/bin/env bash
# Writes data-0.1.0.tar.gz: what a server of version 0.1.0 kept when it was killed. Run it in a clone at commit 2e98083,
# after `npm ci`, as root with /dev/fuse:
#   bash PATH/TO/write-0.1.0.sh OUT.tar.gz
set -euo pipefail
out=$(realpath "$1")
place=$(mktemp -d)
export HOME=$place
cairn() { node_modules/.bin/node --conditions=source packages/cli/src/main.ts "$@"; }

node_modules/.bin/node --conditions=source packages/cli/src/main.ts serve --data "$place/data" --listen 127.0.0.1:7979 &
server=$!
until [ -s "$place/data/owner-key" ]; do sleep 0.1; done
cairn ctx add --name old --server http://127.0.0.1:7979 --api-key "$(cat "$place/data/owner-key")"

cairn ws create website
cairn init --workspace website --path "$place/work"
(
  cd "$place/work"
  mkdir -p notes/deep
  printf 'hello\n' > notes/hello.txt
  ln notes/hello.txt notes/hard
  ln -s hello.txt notes/soft
  mkfifo notes/fifo
  chmod 640 notes/hello.txt
  touch -d '2026-01-02T03:04:05.123456789Z' notes/deep/old
  head -c 700000 /dev/zero | tr '\0' 'x' > large    # three blocks
  head -c 66000 /dev/urandom > random               # nothing to compress, so it is a file of objects/
  sha256sum random > random.sha256
  truncate -s 5G sparse
  printf 'end' | dd of=sparse bs=1 seek=3000000000 conv=notrunc status=none
  node -e 'process.stdout.write("é".repeat(3))' > $'na\xefve'
)
cairn umount "$place/work"

# One attempt that was committed, one with changes, one in conflict.
cairn fs layer create :/ --name committed -w website
echo committed | cairn fs cp - :/notes/committed.txt --layer committed -w website
cairn fs layer commit committed -w website
cairn fs layer create :/ --name open --tag task=upgrade -w website
echo open | cairn fs cp - :/notes/open.txt --layer open -w website
cairn fs layer checkpoint open --label before -w website
echo later | cairn fs cp - :/notes/open.txt --layer open -w website
cairn fs layer create :/ --name conflicted -w website
echo layer | cairn fs cp - :/notes/hello.txt --layer conflicted -w website
echo main | cairn fs cp - :/notes/hello.txt -w website
cairn fs layer commit conflicted -w website || true

cairn token issue agent --ttl 366d --allow /notes:read,list,write --token-only -w website > "$place/data/agent.token"
echo secret | cairn vault set prod-db DB_URL=- -w website
cairn journal new -id run-42 -title 'run 42' -w website
echo '{"type":"tool.call.completed","summary":{"tool":"pytest"}}' | cairn journal append run-42 -w website
cairn ws create limited
cairn ws quota limited --max-files 100
echo removed | cairn fs cp - :/removed -w limited
cairn fs rm :/removed -w limited

kill -9 $server
wait $server || true
tar -C "$place/data" -czf "$out" .
rm -rf "$place"
