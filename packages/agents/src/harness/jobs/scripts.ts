import { shellQuote } from '@cairn/protocol'

export const runningMax = 10
export const tooManyCode = 75
const logBytes = 65_536
const keptLogBytes = 1 << 20
const callbackLogBytes = 32_768

export interface JobPlace {
  /** Beside the mount, on the machine's disk: markers tell of this machine and of no other. */
  readonly directory: string
  readonly id: string
}

export interface Launch extends JobPlace {
  readonly command: string
  /** Where it starts; default: where commands do. */
  readonly cwd: string
  /** Where its log is kept when it has ended: a file in the workspace. */
  readonly keptLog: string | undefined
  readonly callback: { readonly url: string; readonly token: string } | undefined
}

/** `alive FILE.running`: whether that job runs. One without a process yet has a minute to get it. */
const alive = `
boot=$(cat /proc/sys/kernel/random/boot_id)
alive() {
  [ -e "$1" ] && [ "$(cat "$1")" = "$boot" ] || return 1
  pid=$(cat "\${1%.running}.pid" 2>/dev/null)
  if [ -z "$pid" ]; then [ -z "$(find "$1" -mmin +1)" ]; else kill -0 -- "-$pid" 2>/dev/null; fi
}`

/** Counts after it has announced itself, so that two launches at once never make one too many. */
export function launchScript({ directory, id, ...rest }: Launch): string {
  return `
d=${shellQuote(directory)}
[ -d "$d" ] || { sudo -n mkdir -p "$d" && sudo -n chown "$(id -u):$(id -g)" "$d"; } || exit 1
b=$d/${id}
cat /proc/sys/kernel/random/boot_id > "$b.running" || exit 1
${alive}
n=0
for each in "$d"/*.running; do if alive "$each"; then n=$((n + 1)); fi; done
[ "$n" -le ${runningMax} ] || { rm -f "$b.running"; exit ${tooManyCode}; }
setsid bash -c ${shellQuote(wrapper({ id, ...rest }))} job "$b" > /dev/null 2>&1 < /dev/null &
echo $! > "$b.pid"
`
}

/** The log is complete, and kept, before the exit code is there to be read. */
function wrapper({ id, command, cwd, keptLog, callback }: Omit<Launch, 'directory'>): string {
  const directory = keptLog?.slice(0, keptLog.lastIndexOf('/'))
  const keep =
    keptLog === undefined
      ? ''
      : `mkdir -p ${shellQuote(directory!)} && tail -c ${keptLogBytes} "$b.log" > ${shellQuote(keptLog)}`
  return `
b=$1
cd ${shellQuote(cwd)} || exit
bash -c ${shellQuote(command)} job-${id} > "$b.log" 2>&1 < /dev/null
code=$?
${keep}
echo "$code" > "$b.exit.new" && mv "$b.exit.new" "$b.exit"
${callback === undefined ? '' : send(callback)}
rm -f "$b.running"
`
}

/** By whichever program the machine has. What goes wrong is ignored: the harness asks for the markers, too. */
function send({ url, token }: NonNullable<Launch['callback']>): string {
  const [place, secret] = [shellQuote(url), shellQuote(token)]
  const type = 'content-type: application/json'
  const node =
    'const [, url, token, file] = process.argv; const body = require("fs").readFileSync(file); ' +
    'fetch(url, { method: "POST", body, headers: { "content-type": "application/json", "x-job-token": token }, ' +
    'signal: AbortSignal.timeout(15000) }).catch(() => {})'
  const python =
    'import sys, urllib.request as r; _, url, token, file = sys.argv; ' +
    'r.urlopen(r.Request(url, open(file, "rb").read(), ' +
    '{"content-type": "application/json", "x-job-token": token}), timeout=15)'
  return `
if [ "$code" = 0 ]; then s=completed e=; else s=failed e=',"error":"the command ended with '$code'"'; fi
{
  printf '{"status":"%s","response":{"exitCode":%s,"logs":"' "$s" "$code"
  tail -c ${callbackLogBytes} "$b.log" | LC_ALL=C tr -d '\\000-\\010\\013\\014\\016-\\037' |
    LC_ALL=C sed -e 's/\\\\/\\\\\\\\/g' -e 's/"/\\\\"/g' -e 's/\\t/\\\\t/g' -e 's/\\r/\\\\r/g' |
    LC_ALL=C awk '{ printf "%s\\\\n", $0 }'
  printf '"}%s}' "$e"
} > "$b.body"
if command -v curl >/dev/null; then
  curl -sS -m 15 -H '${type}' -H x-job-token:${secret} --data-binary @"$b.body" ${place}
elif command -v node >/dev/null; then node -e ${shellQuote(node)} ${place} ${secret} "$b.body"
else python3 -c ${shellQuote(python)} ${place} ${secret} "$b.body"; fi
rm -f "$b.body"`
}

/** Prints `exit CODE`, `running`, `dead` or `unknown`. */
export function statusScript({ directory, id }: JobPlace): string {
  return `
b=${shellQuote(`${directory}/${id}`)}
${alive}
if [ -e "$b.exit" ]; then echo "exit $(cat "$b.exit")"
elif alive "$b.running"; then echo running
elif [ -e "$b.exit" ]; then echo "exit $(cat "$b.exit")"
elif [ -e "$b.running" ]; then echo dead
else echo unknown; fi`
}

export function logScript({ directory, id }: JobPlace): string {
  return `tail -c ${logBytes} ${shellQuote(`${directory}/${id}.log`)} 2>/dev/null; true`
}

/** Asks it to end, waits for five seconds, then ends it. The code stays that of a job that has ended by itself. */
export function stopScript({ directory, id }: JobPlace): string {
  return `
b=${shellQuote(`${directory}/${id}`)}
pid=$(cat "$b.pid") || exit 0
[ -e "$b.exit" ] || kill -TERM -- "-$pid" 2>/dev/null
for i in $(seq 50); do kill -0 -- "-$pid" 2>/dev/null || break; sleep 0.1; done
kill -KILL -- "-$pid" 2>/dev/null
[ -e "$b.exit" ] || echo 143 > "$b.exit"
rm -f "$b.running"`
}

/** Prints how many run. */
export function countScript(directory: string): string {
  return `
${alive}
n=0
for each in ${shellQuote(directory)}/*.running; do if alive "$each"; then n=$((n + 1)); fi; done
echo "$n"`
}
