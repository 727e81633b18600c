import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { JailOverlay } from './disk.ts'
import { etcFiles } from './etc-files.ts'
import { runProgram } from './run-program.ts'
import { isRoot, ordinaryUser } from './users.ts'

/** What of the host a jail sees. Everything else does not exist there: data is not system. */
const hostDirectories = ['/usr', '/etc', '/var/lib/dpkg']
/** Those of them that a seed adds something to. */
const ownTargets: ReadonlySet<string> = new Set(['/usr', '/etc'])
/** In a merged system links into /usr, else directories of their own. */
const hostRoots = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']
const emptyDirectories = [
  'dev',
  'proc',
  'sys',
  'run',
  'mnt',
  'media',
  'srv',
  'opt',
  'etc',
  'usr',
  'home',
  'var/cache',
  'var/lib/dpkg',
  'var/lib/apt/lists/partial',
  'var/cache/apt/archives/partial',
  'var/log',
  'var/spool',
]

const made = new Map<string, Promise<string>>()

/**
 * The layer directly over a base: mount points, the ordinary user, and nothing in the place of the host's secrets. It
 * depends on the base alone, is made once and shared.
 */
export function makeSeed(
  seeds: string,
  base: 'host' | { readonly rootfs: string },
): Promise<string> {
  const key = `${seeds}\0${JSON.stringify(base)}`
  const making = made.get(key) ?? make(seeds, base)
  made.set(key, making)
  making.catch(() => made.delete(key))
  return making.then((seed) => {
    if (existsSync(seed)) return seed
    made.delete(key)
    return makeSeed(seeds, base)
  })
}

async function make(seeds: string, base: 'host' | { readonly rootfs: string }): Promise<string> {
  await mkdir(seeds, { recursive: true, mode: 0o700 })
  const etc = base === 'host' ? '/etc' : join(base.rootfs, 'etc')
  // For an ordinary user they are secret already.
  const secrets = base === 'host' && isRoot() ? await findSecrets('/etc') : []
  const files = await etcFiles((name) => readFile(join(etc, name), 'utf8').catch(() => ''))
  const content = JSON.stringify([base, secrets, [...files], seedVersion])
  const seed = join(
    seeds,
    `seed-${createHash('sha256').update(content).digest('hex').slice(0, 16)}`,
  )
  if (existsSync(seed)) return seed
  const whole = await mkdtemp(join(seeds, 'making-'))
  await chmod(whole, 0o755)
  await fillRoot(join(whole, 'root'), base)
  const programs = join(whole, base === 'host' ? '' : 'root', 'usr/local/bin')
  await fillPrograms(programs, base === 'host' ? '/' : base.rootfs)
  const etcLayer = join(whole, base === 'host' ? 'etc' : 'root/etc')
  await fillEtc(etcLayer, files)
  await hide(etcLayer, secrets)
  await rename(whole, seed).catch(() => rm(whole, { recursive: true, force: true }))
  return seed
}

/** Part of a seed's name: another one where what is made of the same base has changed. */
const seedVersion = 2

async function fillRoot(root: string, base: 'host' | { readonly rootfs: string }): Promise<void> {
  for (const name of emptyDirectories) await mkdir(join(root, name), { recursive: true })
  await mkdir(join(root, 'root'), { mode: 0o700 })
  for (const name of ['tmp', 'var/tmp']) {
    await mkdir(join(root, name))
    await chmod(join(root, name), 0o1777)
  }
  await makeHome(join(root, ordinaryUser.home), base === 'host' ? '' : base.rootfs)
  if (base !== 'host') return
  for (const name of hostRoots) {
    const found = await lstat(`/${name}`).catch(() => undefined)
    if (found?.isSymbolicLink()) await symlink(await readlink(`/${name}`), join(root, name))
    if (found?.isDirectory()) await mkdir(join(root, name))
  }
}

async function makeHome(home: string, rootfs: string): Promise<void> {
  await mkdir(home)
  const skeleton = join(rootfs, '/etc/skel')
  for (const name of await readdir(skeleton).catch(() => []))
    await runProgram('cp', ['-a', join(skeleton, name), join(home, name)])
  if (!isRoot()) return
  for (const path of [home, ...(await readdir(home)).map((name) => join(home, name))])
    await chown(path, ordinaryUser.uid, ordinaryUser.gid)
}

async function fillEtc(etc: string, files: ReadonlyMap<string, string>): Promise<void> {
  await mkdir(etc, { recursive: true })
  for (const [name, text] of files) {
    await mkdir(join(etc, dirname(name)), { recursive: true })
    await writeFile(join(etc, name), text)
    await chmod(join(etc, name), /shadow/.test(name) ? 0o600 : /sudoers/.test(name) ? 0o440 : 0o644)
  }
}

/** Programs say `python`; Debian says `python3` unless it is told otherwise. */
async function fillPrograms(programs: string, base: string): Promise<void> {
  await mkdir(programs, { recursive: true })
  if (['usr/bin', 'usr/local/bin'].some((place) => existsSync(join(base, place, 'python')))) return
  await symlink('../../bin/python3', join(programs, 'python'))
}

/** What not everybody on the host may read. The jail's root could: its users own what root owns on the disk. */
async function findSecrets(directory: string, prefix = ''): Promise<string[]> {
  const secrets: string[] = []
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const name = `${prefix}${entry.name}`
    if (entry.isSymbolicLink()) continue
    const { mode } = await lstat(join(directory, entry.name))
    const isOpen = entry.isDirectory() ? (mode & 0o5) === 0o5 : (mode & 0o4) !== 0
    if (!isOpen) secrets.push(name)
    else if (entry.isDirectory())
      secrets.push(...(await findSecrets(join(directory, entry.name), `${name}/`)))
  }
  return secrets
}

/** Device 0:0 is overlayfs's word for "nothing here". */
async function hide(layer: string, names: readonly string[]): Promise<void> {
  const paths = names.map((name) => join(layer, name)).filter((path) => !existsSync(path))
  for (const path of paths) await mkdir(dirname(path), { recursive: true })
  if (paths.length > 0)
    await runProgram('sh', ['-c', 'for path; do mknod "$path" c 0 0 || exit; done', 'sh', ...paths])
}

/** A jail of the host's system: one overlay for each directory of it, for what is written lies on the same disk. */
export async function hostPieces(seed: string): Promise<JailOverlay[]> {
  const pieces: JailOverlay[] = [{ target: '/', lowers: [join(seed, 'root')] }]
  for (const name of hostRoots) {
    const found = await lstat(`/${name}`).catch(() => undefined)
    if (found?.isDirectory()) pieces.push({ target: `/${name}`, lowers: [`/${name}`] })
  }
  for (const target of hostDirectories)
    if (existsSync(target))
      pieces.push({
        target,
        lowers: ownTargets.has(target) ? [join(seed, target.slice(1)), target] : [target],
      })
  return pieces
}
