import { readFile, stat } from 'node:fs/promises'
import { createSecureContext, type Server, type SecureContextOptions } from 'node:tls'
import { CairnError } from '@cairn/protocol'

/** Files in PEM: a certificate with its chain, and its key. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

export type Certificate = Pick<SecureContextOptions, 'cert' | 'key'>

/** How soon a new certificate is taken into use. Files are looked at, because a renewal often replaces a link to them. */
const lookMs = 10_000

/** Rejects with `storage_misconfigured` where a file is missing or the key is another certificate's. */
export async function readCertificate({ cert, key }: TlsFiles): Promise<Certificate> {
  try {
    const read = { cert: await readFile(cert), key: await readFile(key) }
    createSecureContext(read)
    return read
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CairnError('storage_misconfigured', {
      what: `use the certificate ${cert} with the key ${key}`,
      reason,
      cause: error,
    })
  }
}

/** Takes a new certificate into use when its files change; a bad one is reported once, and the old one stays. */
export function followCertificate(
  server: Pick<Server, 'setSecureContext'>,
  files: TlsFiles,
  warn: (message: string) => void,
  everyMs: number = lookMs,
): () => void {
  let known = markOf(files)
  const look = async (): Promise<void> => {
    const mark = await markOf(files)
    if (mark === (await known)) return
    known = Promise.resolve(mark)
    server.setSecureContext(await readCertificate(files))
  }
  let looking = Promise.resolve()
  const timer = setInterval(() => {
    looking = look().catch((error: unknown) =>
      warn(
        `${error instanceof Error ? error.message : String(error)}. The old one is still in use`,
      ),
    )
  }, everyMs).unref()
  return () => {
    clearInterval(timer)
    void looking
  }
}

async function markOf({ cert, key }: TlsFiles): Promise<string> {
  const marks = [cert, key].map(async (path) => {
    const found = await stat(path).catch(() => undefined)
    return found ? `${found.ino}:${found.mtimeMs}:${found.size}` : 'none'
  })
  return (await Promise.all(marks)).join(' ')
}
