// The first lines of the single executable. Node can start one CommonJS file of its own, and load nothing else from
// inside itself: so the program is unpacked once for each user and version, and run from there.
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const { createRequire } = require('node:module')
const { homedir, tmpdir } = require('node:os')
const path = require('node:path')
const { getAsset, getRawAsset } = require('node:sea')

/** @type {{ version: string, files: { name: string, bytes: number, sha256: string, isNative: boolean }[] }} */
const index = JSON.parse(getAsset('index', 'utf8'))
const uid = /** @type {() => number} */ (process.getuid)()
const home = findHome() ?? unpackSomewhere()
if (home === undefined) process.exitCode = 1
else start(home)

/**
 * Processes of our own name the file to run first, as they do with Node: then the words are in the same places.
 * @param {string} home
 */
function start(home) {
  const [, , first] = process.argv
  const isOwnFile = index.files.some(({ name }) => first === path.join(home, name))
  process.argv.splice(1, isOwnFile ? 1 : 0)
  if (!isOwnFile) process.argv[1] = path.join(home, 'cairn.js')
  createRequire(path.join(home, 'x'))('./start.cjs')(process.argv[1])
}

/** Where it may lie, best first. */
function places() {
  const { XDG_CACHE_HOME } = process.env
  const caches = XDG_CACHE_HOME ? [XDG_CACHE_HOME] : []
  try {
    caches.push(path.join(homedir(), '.cache'))
  } catch {
    // This user has no home.
  }
  return [...caches.map((cache) => path.join(cache, 'cairn')), path.join(tmpdir(), `cairn-${uid}`)]
}

function findHome() {
  return places()
    .map((place) => path.join(place, `program-${index.version}`))
    .find(isWhole)
}

/**
 * Ours alone, and complete: a cleaner of temporary files may have been there, and another user may have made a directory
 * of that name first. What is loaded as machine code is compared byte for byte.
 * @param {string} home
 */
function isWhole(home) {
  try {
    if (!isOurs(path.dirname(home), 0o022) || !isOurs(home, 0o077)) return false
    return index.files.every(({ name, bytes, sha256, isNative }) => {
      const file = path.join(home, name)
      return isNative ? digest(fs.readFileSync(file)) === sha256 : fs.statSync(file).size === bytes
    })
  } catch {
    return false
  }
}

/**
 * @param {string} directory
 * @param {number} forbidden what others may not do there
 */
function isOurs(directory, forbidden) {
  const stat = fs.lstatSync(directory)
  return stat.isDirectory() && stat.uid === uid && (stat.mode & forbidden) === 0
}

function unpackSomewhere() {
  const failures = []
  for (const place of places())
    try {
      return unpack(place)
    } catch (error) {
      failures.push(/** @type {Error} */ (error).message)
    }
  console.error(
    `cairn: cannot unpack itself: ${failures.join('; ')}. Name a directory that you may write to, on a disk with room: export XDG_CACHE_HOME=DIRECTORY`,
  )
}

/**
 * Written beside its place and then renamed into it: a concurrent reader finds all of it or nothing.
 * @param {string} place
 */
function unpack(place) {
  const home = path.join(place, `program-${index.version}`)
  fs.mkdirSync(place, { recursive: true, mode: 0o700 })
  if (!isOurs(place, 0o022)) throw new Error(`others may write to ${place}`)
  const draft = fs.mkdtempSync(`${home}-`)
  try {
    fill(draft)
    if (fs.existsSync(home) && !isWhole(home)) fs.renameSync(home, `${draft}.old`)
    fs.renameSync(draft, home)
  } catch (error) {
    fs.rmSync(draft, { recursive: true, force: true })
    if (!isWhole(home)) throw error
  } finally {
    fs.rmSync(`${draft}.old`, { recursive: true, force: true })
  }
  return home
}

/** @param {string} draft */
function fill(draft) {
  const { zstdDecompressSync } = require('node:zlib')
  const all = zstdDecompressSync(Buffer.from(getRawAsset('files')))
  let at = 0
  for (const { name, bytes, sha256 } of index.files) {
    const content = all.subarray(at, (at += bytes))
    if (digest(content) !== sha256) throw new Error(`${name} in ${process.execPath} is damaged`)
    fs.writeFileSync(path.join(draft, name), content, {
      mode: /^(?:standby|jail)-/.test(name) ? 0o700 : 0o600,
    })
  }
}

/** @param {Buffer} bytes */
function digest(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}
