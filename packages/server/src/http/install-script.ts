interface Given {
  /** Where the script came from. Only what `installUrl` allows, because a shell reads it. */
  readonly url: string
  readonly files: readonly { readonly name: string; readonly sha256: string }[]
}

/** The URL that the client used; undefined for a Host header that is not a plain host and port. */
export function installUrl(protocol: string, host: string | undefined): string | undefined {
  if (host === undefined || !/^[A-Za-z0-9.[\]:-]{1,255}$/.test(host)) return undefined
  return `${protocol === 'https' ? 'https' : 'http'}://${host}`
}

/**
 * For sh of any Debian, Alpine or macOS: it picks the client that runs on this machine, compares its hash, and installs it.
 * All of it is in functions, so that half a script does nothing.
 */
export function installScript({ url, files }: Given): string {
  const hashes = files.map(({ name, sha256 }) => `${sha256}  ${name}`).join('\n')
  return script.replaceAll('@URL@', () => url).replace('@HASHES@', () => hashes)
}

const script = `#!/bin/sh
# Installs the cairn command that fits the server at @URL@.
#   sh install.sh [--to DIR] [--sha256 HASH] [--file NAME]
set -eu

server='@URL@'
# What this server says that its files are. Over plain HTTP that proves nothing.
hashes='@HASHES@'

fail() {
  echo "cairn install: $*" >&2
  exit 1
}

read_options() {
  to= sha256= file=
  while [ $# -gt 0 ]; do
    case $1 in
      --to | --sha256 | --file) [ $# -ge 2 ] || fail "$1 needs a value." ;;
      *) fail "there is no option $1. There are --to DIR, --sha256 HASH and --file NAME." ;;
    esac
    case $1 in
      --to) to=$2 ;;
      --sha256) sha256=$2 ;;
      --file) file=$2 ;;
    esac
    shift 2
  done
}

offers() {
  printf '%s\\n' "$hashes" | grep -q "  $1$"
}

has_node() {
  node -e 'const [a, b] = process.versions.node.split("."); process.exitCode = a > 22 || (a == 22 && b >= 15) ? 0 : 1' 2>/dev/null
}

# One file for Node where Node is; else the executable for this machine.
choose_file() {
  if offers cairn-single && has_node; then
    file=cairn-single
    return
  fi
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) machine=linux-x64 ;;
    Linux-aarch64 | Linux-arm64) machine=linux-arm64 ;;
    *) fail "there is no client for $(uname -s) on $(uname -m) without Node. Install Node 22.15 or newer, then run this again." ;;
  esac
  if ls /lib/ld-musl-* >/dev/null 2>&1; then
    fail 'executables need glibc, and this system has musl. Install Node 22.15 or newer (Alpine: apk add nodejs), then run this again.'
  fi
  for file in "cairn-$machine.gz" "cairn-$machine"; do
    if offers "$file"; then return; fi
  done
  fail "this server has no client for $machine. Install Node 22.15 or newer, or ask the owner of the server to add one: cairn serve --client-dir DIR."
}

# Which hash the file must have. Over TLS the server's own counts: it is who it says.
choose_hash() {
  case $server in
    https://* | http://localhost | http://localhost:* | http://127.* | 'http://[::1]'*) ;;
    *)
      if [ -z "$sha256" ]; then
        echo "cairn install: $server does not speak TLS, so what it sends can be changed on the way." >&2
        echo "Ask the owner of the server for the SHA-256 of $file; on the server's own machine this prints it:" >&2
        echo "  curl -s http://127.0.0.1:PORT/install | grep $file" >&2
        echo 'Then run this again with: | sh -s -- --sha256 HASH' >&2
        exit 1
      fi
      ;;
  esac
  if [ -z "$sha256" ]; then sha256=$(printf '%s\\n' "$hashes" | sed -n "s/  $file$//p"); fi
  [ -n "$sha256" ] || fail "this server has no file $file."
}

download() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsS -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1"
  else
    fail 'neither curl nor wget is here. Install one of them, then run this again.'
  fi || fail "cannot download $1."
}

hash_of() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  elif command -v openssl >/dev/null 2>&1; then
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  else
    fail 'nothing here computes SHA-256. Install sha256sum (coreutils) or openssl, then run this again.'
  fi
}

choose_directory() {
  if [ -n "$to" ]; then return; fi
  if [ -w /usr/local/bin ]; then to=/usr/local/bin; else to=$HOME/.local/bin; fi
}

main() {
  read_options "$@"
  if [ -z "$file" ]; then choose_file; fi
  choose_hash
  choose_directory
  mkdir -p "$to" || fail "cannot make $to. Name another directory: --to DIR."
  draft=$(mktemp -d "$to/.cairn-install.XXXXXX") || fail "cannot write to $to. Name another directory: --to DIR."
  trap 'rm -rf "$draft"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  echo "downloading $file from $server" >&2
  download "$server/install/$file" "$draft/$file"
  found=$(hash_of "$draft/$file")
  if [ "$found" != "$sha256" ]; then
    fail "$file is not what it should be: its SHA-256 is $found, and $sha256 was expected. Nothing was installed."
  fi
  case $file in
    *.gz) gzip -d "$draft/$file" || fail "cannot unpack $file." ;;
  esac
  program=$draft/\${file%.gz}
  chmod 755 "$program"
  version=$("$program" --version) || fail "$file does not run on this machine. Nothing was installed."
  mv -f "$program" "$to/cairn"
  echo "installed cairn $version as $to/cairn"
  case :$PATH: in
    *:"$to":*) ;;
    *) echo "put it into your PATH: export PATH=\\"$to:\\$PATH\\"" ;;
  esac
  echo "next: cairn ctx add --name NAME --server $server --api-key-file FILE"
}

main "$@"
`
