import { X509Certificate } from 'node:crypto'

/** Addresses that mean every interface, with the one of this machine. No certificate names them. */
const everywhere = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['[::]', '[::1]'],
])

/** Where commands on this machine reach a server; `certificate` is the PEM of its TLS. */
export function ownAddress(url: string, certificate: string | undefined): string {
  const { protocol, hostname, port } = new URL(url)
  const loopback = everywhere.get(hostname)
  if (loopback === undefined) return url
  const host = certificate === undefined ? loopback : nameIn(certificate)
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}`
}

/** The first name in it that is whole. */
function nameIn(certificate: string): string {
  const names = new X509Certificate(certificate).subjectAltName ?? ''
  return /(?:^|, )DNS:([^*,\s]+)/.exec(names)?.[1] ?? 'localhost'
}
