import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rename } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { serve } from '../serve.ts'
import { withTemporaryDirectory } from '../conformance/temporary-directory.ts'
import { followCertificate, readCertificate } from './tls.ts'

const noOpenssl = spawnSync('openssl', ['version']).status !== 0

/** Makes NAME.pem and NAME.key. */
function makeCertificate(directory: string, name: string): { cert: string; key: string } {
  const [cert, key] = [join(directory, `${name}.pem`), join(directory, `${name}.key`)]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
  const files = ['-keyout', key, '-out', cert]
  execFileSync('openssl', ['req', ...kind, ...subject, ...files], { stdio: 'pipe' })
  return { cert, key }
}

/** The name in the certificate that a server shows, and a header of its answer. */
async function ask(url: string, ca: Buffer): Promise<{ name: string; transport: string }> {
  const sent = request(`${url}/healthz`, { ca, agent: false }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const { subject } = (answer.socket as TLSSocket).getPeerCertificate()
  answer.resume()
  return { name: String(subject.CN), transport: answer.headers['strict-transport-security'] ?? '' }
}

describe.skipIf(noOpenssl)('TLS (needs openssl)', () => {
  it('carries requests and sessions', () =>
    withTemporaryDirectory(async (directory) => {
      const tls = makeCertificate(directory, 'first')
      const data = join(directory, 'data')
      const serving = await serve({ data, listen: '127.0.0.1:0', tls })
      try {
        const ca = await readFile(tls.cert)
        expect(serving.url).toMatch(/^https:/)
        expect(await ask(serving.url, ca)).toEqual({ name: 'first', transport: 'max-age=31536000' })
        const headers = { authorization: `Bearer ${serving.ownerKey}` }
        const socket = new WebSocket(`${serving.url}/v1/sessions`, { ca, headers })
        await once(socket, 'open')
        socket.terminate()
      } finally {
        await serving.close()
      }
    }))

  it('a new certificate is taken into use, a bad one is told and left', () =>
    withTemporaryDirectory(async (directory) => {
      const files = makeCertificate(directory, 'first')
      const next = makeCertificate(directory, 'second')
      const taken: unknown[] = []
      const warnings: string[] = []
      const server = { setSecureContext: (given: object) => void taken.push(given) }
      const stop = followCertificate(server, files, (text) => void warnings.push(text), 5)
      const second = await readCertificate(next)
      await rename(next.cert, files.cert)
      await expect.poll(() => warnings.length, { timeout: 30_000 }).toBe(1)
      expect(warnings[0]).toContain('The old one is still in use')
      await rename(next.key, files.key)
      await expect.poll(() => taken.length, { timeout: 30_000 }).toBe(1)
      expect(taken).toEqual([second])
      stop()
    }))

  it('files that do not belong together are refused at the start', () =>
    withTemporaryDirectory(async (directory) => {
      const [{ cert }, { key }] = [makeCertificate(directory, 'a'), makeCertificate(directory, 'b')]
      const tls = { cert, key }
      const started = serve({ data: join(directory, 'data'), listen: '127.0.0.1:0', tls })
      await expect(started).rejects.toMatchObject({ code: 'storage_misconfigured' })
    }))
})
