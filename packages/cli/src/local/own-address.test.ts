import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ownAddress } from './own-address.ts'

it.each([
  ['http://127.0.0.1:7070', 'http://127.0.0.1:7070'],
  ['http://192.0.2.7:7070', 'http://192.0.2.7:7070'],
  ['http://0.0.0.0:7070', 'http://127.0.0.1:7070'],
  ['http://[::]:7070', 'http://[::1]:7070'],
])('%s is reached at %s', (url, own) => {
  expect(ownAddress(url, undefined)).toBe(own)
})

it.each([
  ['DNS:*.example.org,DNS:cairn.example.org', 'https://cairn.example.org:7070'],
  ['IP:192.0.2.7', 'https://localhost:7070'],
])('a server with TLS for %s everywhere is reached at %s', (names, own) => {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-own-address-'))
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  const ec = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=cairn'.split(' ')
  const words = ['req', '-x509', ...ec, '-keyout', key, '-out', cert]
  execFileSync('openssl', [...words, '-addext', `subjectAltName=${names}`], { stdio: 'ignore' })
  expect(ownAddress('https://0.0.0.0:7070', readFileSync(cert, 'utf8'))).toBe(own)
  expect(ownAddress('https://192.0.2.7', readFileSync(cert, 'utf8'))).toBe('https://192.0.2.7')
  rmSync(directory, { recursive: true })
})
