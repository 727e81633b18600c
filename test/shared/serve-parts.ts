// Holds what the test files of a run share, until its standard input ends. Prints where it listens.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makers, type Part } from './parts.ts'

const made = new Map<string, Promise<Part>>()

function get(name: string): Promise<Part> {
  const part = made.get(name) ?? makers[name]!()
  made.set(name, part)
  return part
}

async function remove(name: string): Promise<void> {
  const part = made.get(name)
  made.delete(name)
  // One that could not be made has told so to those that asked for it.
  await part?.then((each) => each.remove()).catch(console.error)
}

const server = createServer(({ method, url = '' }, response) => {
  const name = url.slice(1)
  const answering = method === 'DELETE' ? remove(name) : get(name).then(({ value }) => value)
  answering.then(
    (value = null) => response.end(JSON.stringify(value)),
    (error: unknown) => response.writeHead(500).end(String(error)),
  )
})

server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
})

await once(process.stdin.resume(), 'end')
server.close()
server.closeAllConnections()
await Promise.all([...made.keys()].map(remove))
