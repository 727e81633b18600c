import { type AddressInfo, connect, createServer } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

/** A way to a server that takes time, and carries as much as one that does not. */
const { server, wayMs } = workerData as { server: string; wayMs: number }
const { host, hostname, port } = new URL(server)
const headersBytesMax = 4096

const listening = createServer((client) => {
  const upstream = connect(Number(port), hostname)
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    from.setNoDelay(true)
    from.on('data', (bytes) => setTimeout(() => to.write(asNamed(bytes)), wayMs))
    from.on('close', () => setTimeout(() => to.destroy(), wayMs))
    from.on('error', () => from.destroy())
  }
})
listening.listen(0, '0.0.0.0', () => parentPort!.postMessage(proxyHost()))

function proxyHost(): string {
  return `0.0.0.0:${(listening.address() as AddressInfo).port}`
}

/** The server answers to its own name only. */
function asNamed(bytes: Buffer): Buffer {
  if (bytes.length > headersBytesMax || !bytes.includes(proxyHost())) return bytes
  return Buffer.from(bytes.toString('latin1').replace(proxyHost(), host), 'latin1')
}
