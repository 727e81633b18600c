// Makes one file of a bundle: a program for Node that unpacks the rest of itself once for each user and version, and
// runs it from there. It can be dropped into a sandbox that has Node and nothing of ours.
import { createHash } from 'node:crypto'
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

/** @param {string} directory that of cairn.mjs, its chunks and its native piece */
export async function makeSingleFile(directory) {
  const found = await readdir(directory, { recursive: true, withFileTypes: true })
  const names = found
    .filter((entry) => entry.isFile() && /\.(?:mjs|node)$|^standby-/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .filter((name) => /^(?:cairn\.mjs|chunks\/[^/]+\.mjs|[^/]+\.node|standby-[^/]+)$/.test(name))
  const pairs = names
    .toSorted()
    .map(async (name) => [name, (await readFile(join(directory, name))).toString('base64')])
  const files = Object.fromEntries(await Promise.all(pairs))
  const packed = brotliCompressSync(JSON.stringify(files), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 9 },
  }).toString('base64')
  const path = join(directory, 'cairn-single')
  await writeFile(path, program(packed))
  await chmod(path, 0o755)
  return path
}

// Neither CommonJS nor a module: which of them a file without an ending is depends on where it lies.
const program = (/** @type {string} */ packed) => `#!/usr/bin/env node
const major = Number(process.versions.node.split('.')[0])
const { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } = process.getBuiltinModule('node:fs')
const { homedir } = process.getBuiltinModule('node:os')
const { dirname, join } = process.getBuiltinModule('node:path')
const { pathToFileURL } = process.getBuiltinModule('node:url')
const version = '${createHash('sha256').update(packed).digest('hex').slice(0, 16)}'
const packed = '${packed}'
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'cairn')
const home = join(cache, version)
if (major < 22) {
  console.error('cairn: needs Node 22 or newer, and this is ' + process.versions.node + '.')
  process.exitCode = 2
} else {
  if (!existsSync(home)) unpack()
  import(pathToFileURL(join(home, 'cairn.mjs')).href)
}

/**
 * Written beside its place and then renamed into it: a concurrent reader finds all of it or
 * nothing.
 */
function unpack() {
  mkdirSync(cache, { recursive: true, mode: 0o700 })
  const draft = mkdtempSync(home + '-')
  const text = process.getBuiltinModule('node:zlib').brotliDecompressSync(Buffer.from(packed, 'base64')).toString()
  for (const [name, content] of Object.entries(JSON.parse(text))) {
    mkdirSync(dirname(join(draft, name)), { recursive: true })
    const mode = name.startsWith('standby-') ? 0o700 : 0o600
    writeFileSync(join(draft, name), Buffer.from(content, 'base64'), { mode })
  }
  try {
    renameSync(draft, home)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(home)) throw error
  }
}
`
