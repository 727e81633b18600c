import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { cliError, usageError } from '../errors.ts'

/** Undefined when there is no file. What cannot be understood is told with its path. */
export async function readJsonFile<T>(
  path: string,
  parse: (value: unknown) => T,
  hint: string,
): Promise<T | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  try {
    return parse(JSON.parse(text))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw cliError('not_configured', `read ${path}`, reason, hint, cause)
  }
}

/** A secret in a file, because other users of the machine can see a program's arguments. */
export async function readSecretFile(path: string): Promise<string> {
  const { mode } = await stat(path)
  if ((mode & 0o077) !== 0)
    throw usageError(`trust ${path}`, 'others can read it', `Run: chmod 600 ${path}`)
  const secret = (await readFile(path, 'utf8')).trim()
  if (secret === '')
    throw usageError(`read a key from ${path}`, 'it is empty', 'Write the key there.')
  return secret
}

export function asObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new TypeError(`${what} is no JSON object`)
}

/** Replaces the file in one step, readable by its owner alone. A link to it stays a link to the old one. */
export async function writeSecretFile(path: string, value: object): Promise<void> {
  const file = await openSecretFile(path)
  await file.write(`${JSON.stringify(value, null, 2)}\n`)
}

interface SecretFile {
  write(text: string): Promise<void>
  /** Leaves what was there before. */
  discard(): Promise<void>
}

/** The same in two steps: where nothing can be written, you hear of it before there is a secret to lose. */
export async function openSecretFile(path: string): Promise<SecretFile> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  // Not imported: most commands only read, and loading it takes 2 ms.
  const suffix = process.getBuiltinModule('node:crypto').randomBytes(6).toString('hex')
  const temporary = `${path}.${suffix}.tmp`
  const file = await open(temporary, 'wx', 0o600)
  const discard = async (): Promise<void> => {
    await file.close()
    await rm(temporary, { force: true })
  }
  return {
    discard,
    async write(text) {
      try {
        await file.writeFile(text)
        await file.sync()
        await file.close()
        await rename(temporary, path)
        // The umask may have taken bits away, never added any; a file system without modes ignores both.
        await chmod(path, 0o600)
      } catch (error) {
        await discard()
        throw error
      }
    },
  }
}
