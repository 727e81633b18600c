import { X509Certificate } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from '../../jail/run-program.ts'

/** Below it are the names of ports. TLS clients take no wildcard for a name of two parts, such as `*.localhost`. */
export const portDomain = 'sandbox.localhost'

export interface PortCertificate {
  readonly cert: string
  readonly key: string
  /** The file with the authority that clients have to trust. */
  readonly authority: string
}

const days = { authority: 3650, certificate: 800, renewal: 30 } as const

/** Made once and kept with the data. Rejects without openssl. */
export async function ensureCertificate(directory: string): Promise<PortCertificate> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const [authority, cert, key] = ['ca.pem', 'ports.pem', 'ports.key'].map((name) =>
    join(directory, name),
  ) as [string, string, string]
  if (!(await isGood(authority))) await makeAuthority(directory, authority)
  if (!(await isGood(cert, authority))) await makeCertificate(directory, cert, key)
  const [certText, keyText] = await Promise.all([readFile(cert, 'utf8'), readFile(key, 'utf8')])
  return { cert: certText, key: keyText, authority }
}

/** The authority may sign for this machine's own names alone: a stolen key opens nothing else. */
async function makeAuthority(directory: string, authority: string): Promise<void> {
  await openssl(
    newKey(join(directory, 'ca.key')),
    ['-out', authority, '-days', `${days.authority}`],
    ['-subj', '/CN=Cairn sandboxes of this machine'],
    ['-addext', 'basicConstraints=critical,CA:TRUE'],
    ['-addext', 'keyUsage=critical,keyCertSign'],
    ['-addext', 'nameConstraints=critical,permitted;DNS:localhost'],
  )
}

async function makeCertificate(directory: string, cert: string, key: string): Promise<void> {
  await openssl(
    newKey(key),
    ['-out', cert, '-days', `${days.certificate}`],
    ['-CA', join(directory, 'ca.pem'), '-CAkey', join(directory, 'ca.key')],
    ['-subj', `/CN=${portDomain}`],
    ['-addext', 'basicConstraints=critical,CA:FALSE'],
    ['-addext', `subjectAltName=DNS:*.${portDomain},DNS:localhost`],
  )
}

function newKey(file: string): string[] {
  return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', file]
}

async function openssl(...args: readonly (readonly string[])[]): Promise<void> {
  await runProgram('openssl', ['req', '-x509', ...args.flat()])
}

async function isGood(file: string, issuer?: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return false
  const certificate = new X509Certificate(text)
  const leftMs = certificate.validToDate.getTime() - Date.now()
  if (leftMs < days.renewal * 86_400_000) return false
  if (issuer === undefined) return true
  return certificate.verify(new X509Certificate(await readFile(issuer, 'utf8')).publicKey)
}
