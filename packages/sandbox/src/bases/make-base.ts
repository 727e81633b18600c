import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from '../jail/run-program.ts'
import { interpreterPath, interpreterProgram } from './interpreter-program.ts'
import type { BaseSpec } from './spec.ts'

export type SayLine = (line: string) => void

/** Why this machine can make no base; undefined if it can. */
export function whyNoBases(): string | undefined {
  if (process.getuid?.() !== 0) return 'making a base needs root'
  if (findProgram('mmdebstrap') === undefined)
    return 'mmdebstrap is missing, which makes a Debian from its packages (Debian and Ubuntu: apt install mmdebstrap)'
  return undefined
}

/** Makes the root file system in an empty directory. What fails leaves it half made. */
export async function makeBase(
  spec: BaseSpec,
  directory: string,
  say: SayLine,
  signal: AbortSignal,
): Promise<void> {
  say(`fetching ${spec.packages.length} packages of Debian ${spec.suite}, and what they need`)
  const root = join(directory, 'root')
  // In namespaces of its own: what it mounts and what it starts end with it, however it ends.
  const isolate = ['--mount', '--pid', '--mount-proc', '--fork', '--kill-child', '--', 'mmdebstrap']
  await follow('unshare', [...isolate, ...bootstrapArguments(spec), spec.suite, root], say, signal)
  if (spec.node !== undefined) {
    say(`fetching Node ${spec.node} from npm`)
    await addNode(spec, spec.node, root, directory)
  }
  if (!spec.runsCode) return
  await mkdir(join(root, interpreterPath, '..'), { recursive: true })
  await writeFile(join(root, interpreterPath), interpreterProgram)
}

function bootstrapArguments({ arch, packages }: BaseSpec): string[] {
  const authorities = '/usr/local/share/ca-certificates'
  // A proxy of a company signs with an authority that only its machines know.
  const trust = existsSync(authorities)
    ? [`copy-in ${authorities} /usr/local/share/`, 'chroot "$1" update-ca-certificates']
    : []
  return [
    '--mode=root',
    '--variant=minbase',
    '--format=directory',
    `--architectures=${arch}`,
    `--include=${packages.join(',')}`,
    ...trust.map((hook) => `--customize-hook=${hook}`),
  ]
}

/** Node's own build and npm, as they are published on npm. Both are checked by the npm of this machine. */
async function addNode(
  { arch }: BaseSpec,
  version: string,
  root: string,
  directory: string,
): Promise<void> {
  const local = join(root, 'usr/local')
  const platform = arch === 'amd64' ? 'x64' : 'arm64'
  await unpack(`node-linux-${platform}@${version}`, directory, local, ['bin', 'include', 'share'])
  const [, major = ''] =
    /NODE_MAJOR_VERSION (\d+)/.exec(
      await readFile(join(local, 'include/node/node_version.h'), 'utf8'),
    ) ?? []
  const modules = join(local, 'lib/node_modules')
  await mkdir(join(modules, 'npm'), { recursive: true })
  await unpack(`npm@${Number(major) >= 22 ? '11' : '10'}`, directory, join(modules, 'npm'))
  for (const name of ['npm', 'npx'])
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name))
}

async function unpack(
  name: string,
  directory: string,
  target: string,
  parts: readonly string[] = [],
): Promise<void> {
  const place = await mkdtemp(join(directory, 'pack-'))
  const packed = await runProgram('npm', ['pack', name, '--silent', '--pack-destination', place])
  const archive = join(place, packed.trim().split('\n').at(-1) ?? '')
  const members = parts.map((part) => `package/${part}`)
  const owner = ['--no-same-owner', '--strip-components=1']
  await runProgram('tar', ['-xzf', archive, '-C', target, ...owner, ...members])
  await rm(place, { recursive: true, force: true })
}

/** Its lines are told; its last ones are what went wrong. */
async function follow(
  program: string,
  args: readonly string[],
  say: SayLine,
  signal: AbortSignal,
): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], signal })
  const last: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== '')
    for (const line of lines) say(line)
    last.push(...lines)
    last.splice(0, Math.max(0, last.length - 4))
  })
  let failure: Error | undefined
  child.once('error', (error) => (failure = error))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  if (failure !== undefined) throw failure
  if (code !== 0) throw new Error(last.join('; ') || `${program} ended with status ${code}`)
}

function findProgram(name: string): string | undefined {
  const places = (process.env['PATH'] ?? '').split(':').map((place) => join(place, name))
  return places.find((place) => existsSync(place))
}
