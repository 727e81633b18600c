// Makes `cairn` as one executable file for machines without Node and npm: a Node for that machine, and in it the whole
// program, which unpacks itself when it is first started (executable-start.cjs).
//   npm run build:executable [-- linux-x64 linux-arm64]
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { constants, createGzip, zstdCompressSync } from 'node:zlib'
// @ts-expect-error it comes without types
import { inject } from 'postject'
import { buildFuseIo, buildStandby, piece as fuseIo, standby } from '@cairn/mount/native/build'
import { buildJailHelper, piece as jail } from '@cairn/sandbox/native/build'
import { bundleWhole } from './whole-bundle.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const outdir = join(root, 'packages/cli/dist/executable')
/** npm has no Node for musl. */
const targets = ['linux-x64', 'linux-arm64']
/** It is in every Node, and says whether a program was put in. */
const sentinelFuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

const asked = process.argv.slice(2)
const own = `${process.platform}-${process.arch}`
for (const target of asked.length > 0 ? asked : [own]) await makeExecutable(target)

/** @param {string} target */
async function makeExecutable(target) {
  if (!targets.includes(target))
    throw new Error(
      `cannot make an executable for ${target}: npm has no Node for it. There are: ${targets.join(', ')}.`,
    )
  const work = mkdtempSync(join(tmpdir(), 'cairn-executable-'))
  try {
    await bundleWhole(join(work, 'program'))
    writeFileSync(join(work, 'program', 'start.cjs'), 'module.exports = (path) => import(path)\n')
    addNativePieces(join(work, 'program'), target)
    const blob = makeBlob(work)
    mkdirSync(outdir, { recursive: true })
    const path = join(outdir, `cairn-${target}`)
    copyFileSync(findNode(target), `${path}.new`)
    chmodSync(`${path}.new`, 0o755)
    await inject(`${path}.new`, 'NODE_SEA_BLOB', blob, { sentinelFuse })
    await pipeline(createReadStream(`${path}.new`), createGzip(), createWriteStream(`${path}.gz`))
    // Renamed, not overwritten: the one before may be running.
    renameSync(`${path}.new`, path)
    for (const made of [path, `${path}.gz`]) report(made)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/**
 * Those of `npm run build:native`; for this machine, what is compiled here does, too.
 * @param {string} directory
 * @param {string} target
 */
function addNativePieces(directory, target) {
  const isOwn = target === own
  const pieces = [
    { piece: fuseIo, of: `${target}-glibc`, here: buildFuseIo },
    { piece: standby, of: target, here: buildStandby },
    { piece: jail, of: target, here: buildJailHelper },
  ]
  for (const { piece, of, here } of pieces) {
    const prebuilt = join(piece.directory, `${piece.name}-${of}${piece.ending}`)
    const isFresh =
      existsSync(`${prebuilt}.sha256`) &&
      readFileSync(`${prebuilt}.sha256`, 'utf8') === piece.digest()
    if (!isFresh && !isOwn)
      throw new Error(
        `cannot make an executable for ${target}: ${basename(prebuilt)} is not up to date. Run: npm run build:native`,
      )
    const path = isFresh ? prebuilt : here()
    copyFileSync(path, join(directory, basename(path)))
  }
}

/**
 * What Node looks for in itself. It holds nothing of this machine (no snapshot, no compiled code), so that it fits others.
 * @param {string} work
 */
function makeBlob(work) {
  const directory = join(work, 'program')
  const names = readdirSync(directory).toSorted()
  const files = names.map((name) => {
    const content = readFileSync(join(directory, name))
    const isNative = /^(?:fuseio|standby|jail)-/.test(name)
    const sha256 = createHash('sha256').update(content).digest('hex')
    return { name, bytes: content.length, sha256, isNative, content: content.toString('latin1') }
  })
  const index = files.map(({ name, bytes, sha256, isNative }) => ({
    name,
    bytes,
    sha256,
    isNative,
  }))
  const version = createHash('sha256').update(JSON.stringify(index)).digest('hex').slice(0, 32)
  const packed = zstdCompressSync(
    Buffer.from(files.map(({ content }) => content).join(''), 'latin1'),
    {
      params: { [constants.ZSTD_c_compressionLevel]: 19 },
    },
  )
  writeFileSync(join(work, 'index.json'), JSON.stringify({ version, files: index }))
  writeFileSync(join(work, 'files.zst'), packed)
  const config = {
    main: fileURLToPath(new URL('executable-start.cjs', import.meta.url)),
    output: join(work, 'blob'),
    disableExperimentalSEAWarning: true,
    // Options are ours: NODE_OPTIONS of the machine are meant for its own Node.
    execArgvExtension: 'none',
    assets: { index: join(work, 'index.json'), files: join(work, 'files.zst') },
  }
  writeFileSync(join(work, 'config.json'), JSON.stringify(config))
  const words = ['--experimental-sea-config', join(work, 'config.json')]
  execFileSync(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'] })
  return readFileSync(config.output)
}

/**
 * The Node that runs the tests; for another machine, the same version from npm, which checks what it downloads.
 * @param {string} target
 */
function findNode(target) {
  if (target === own) return process.execPath
  const store = join(root, 'node_modules/.cairn-node', `${target}-${process.versions.node}`)
  const path = join(store, 'package/bin/node')
  if (existsSync(path)) return path
  mkdirSync(store, { recursive: true })
  const name = `node-${target}@${process.versions.node}`
  execFileSync('npm', ['pack', name, '--pack-destination', store], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const tarball = readdirSync(store).find((file) => file.endsWith('.tgz'))
  if (tarball === undefined) throw new Error(`cannot find the tarball of ${name} in ${store}`)
  execFileSync('tar', ['-xzf', join(store, tarball), '-C', store])
  rmSync(join(store, tarball))
  return path
}

/** @param {string} path */
function report(path) {
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex')
  console.log(`${path}: ${(statSync(path).size / 1e6).toFixed(1)} MB, sha256 ${sha256}`)
}
