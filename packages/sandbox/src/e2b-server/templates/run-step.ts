import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { type Jail, type JailCommand, JailStartError } from '../../jail/jail.ts'
import { killGroup } from '../../jail/kill-group.ts'
import type { MachineSettings } from '../envd/machine.ts'
import type { BuildFiles } from './build-files.ts'
import { linesOf } from '../lines.ts'
import type { BuildStep } from './build-spec.ts'

/** Which step of a build failed: `base`, `finalize` or its number from 1. */
export class StepError extends Error {
  readonly step: string

  constructor(step: string, message: string) {
    super(message)
    this.step = step
  }
}

interface StepRun {
  readonly jail: Jail
  readonly step: BuildStep
  readonly number: string
  readonly settings: MachineSettings
  readonly files: BuildFiles
  readonly say: (line: string) => void
}

/** Gives what holds for the steps that follow. */
export async function runStep(run: StepRun): Promise<MachineSettings> {
  const { step, settings } = run
  const [first = '', second = ''] = step.args
  switch (step.type) {
    case 'ENV':
      return { ...settings, env: { ...settings.env, ...pairsOf(step.args) } }
    case 'USER':
      // As at E2B: a user that is not there yet is made.
      await runShell(
        run,
        'id -u "$1" >/dev/null 2>&1 || useradd -m -s /bin/bash "$1"',
        [first],
        'root',
      )
      return { ...settings, user: first }
    case 'WORKDIR':
      await runShell(run, 'mkdir -p "$1" && chown "$2" "$1"', [first, settings.user], 'root')
      return { ...settings, workDir: first }
    case 'RUN':
      await runCommand(run, ['/bin/bash', '-l', '-c', first], second || settings.user)
      return settings
    default:
      await copyFiles(run)
      return settings
  }
}

function pairsOf(flat: readonly string[]): Record<string, string> {
  const pairs: Record<string, string> = {}
  for (let index = 0; index + 1 < flat.length; index += 2)
    pairs[flat[index] ?? ''] = flat[index + 1] ?? ''
  return pairs
}

/** As Docker's COPY: the content of a directory, or files into a directory, or one file under a name. */
const copyScript = `
set -e
source=$1 target=$2 owner=$3 mode=$4
# Without a work directory, a relative target is below the home of the user that the steps run as.
[ -z "$6" ] || cd "$(getent passwd "$6" | cut -d: -f6)"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar -x $5 -C "$scratch"
cd "$scratch"
set -- $source
case $target in /*) ;; *) target=$OLDPWD/$target ;; esac
place() {
  [ -z "$owner" ] || chown -R "$owner" "$1"
  [ -z "$mode" ] || chmod -R "$mode" "$1"
}
if [ $# -eq 1 ] && [ -d "$1" ]; then
  mkdir -p "$target"
  place "$1"
  cp -a "$1/." "$target/"
else
  case $target in */) mkdir -p "$target" ;; *) mkdir -p "$(dirname "$target")" ;; esac
  [ $# -eq 1 ] || mkdir -p "$target"
  for each; do place "$each"; cp -a "$each" "$target"; done
fi
`

async function copyFiles(run: StepRun): Promise<void> {
  const { step, settings, files, number } = run
  const [source = '', target = '', owner = '', mode = ''] = step.args
  if (step.filesHash === undefined || !(await files.has(step.filesHash)))
    throw new StepError(number, `the files of COPY ${source} were not uploaded`)
  const archive = files.path(step.filesHash)
  const unpack = (await isGzip(archive)) ? '-z' : '-f-'
  const home = settings.workDir === undefined ? settings.user : ''
  const args = [source, target, owner || settings.user, mode, unpack, home]
  await runShell(run, copyScript, args, 'root', archive)
}

async function isGzip(path: string): Promise<boolean> {
  for await (const bytes of createReadStream(path, { end: 1 }) as AsyncIterable<Buffer>)
    return bytes[0] === 0x1f && bytes[1] === 0x8b
  return false
}

/** E2B says it with the words of its daemon. */
function whyNotStarted(command: string, user: string, error: unknown): string {
  const isUser = error instanceof JailStartError && error.step === 'user'
  const why = isUser ? `unauthenticated: invalid username: '${user}'` : String(error)
  return `failed to run command '${command}': command failed: ${why}`
}

function runShell(
  run: StepRun,
  script: string,
  args: readonly string[],
  user: string,
  input?: string,
): Promise<void> {
  return runCommand(run, ['/bin/bash', '-c', script, 'step', ...args], user, input)
}

async function runCommand(
  { jail, settings, number, say }: StepRun,
  args: readonly string[],
  user: string,
  input?: string,
): Promise<void> {
  const { workDir: cwd } = settings
  const command: JailCommand = {
    args,
    env: settings.env,
    user,
    ...(cwd === undefined ? {} : { cwd }),
  }
  const child = await jail
    .start(input === undefined ? command : { ...command, stdin: 'pipe' })
    .catch((error: unknown) => {
      throw new StepError(number, whyNotStarted(args.at(-1) ?? '', user, error))
    })
  const last: string[] = []
  const follow = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const line of linesOf(source)) {
      say(line)
      last.splice(0, Math.max(0, last.length - 4))
      last.push(line)
    }
  }
  const followed = Promise.all([follow(child.stdout), follow(child.stderr)])
  // A program that ends before it has read everything closes the pipe; its exit code says what that means.
  if (input !== undefined && child.stdin !== undefined)
    await pipeline(createReadStream(input), child.stdin).catch(() => {})
  const { code, signal } = await child.exit
  // What it left in the background would keep its last words from us.
  if (code !== 0) await killGroup(jail, child.pid)
  await followed
  if (code !== 0)
    throw new StepError(
      number,
      `it ended with ${signal ?? `exit status ${code}`}: ${last.join('\n')}`,
    )
}
