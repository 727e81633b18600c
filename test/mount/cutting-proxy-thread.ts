import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

const { hostname, port } = new URL(workerData as string)
const open = new Set<Socket>()
let bytesMax = Infinity
let cuts = 0

const server = createServer((client) => {
  const upstream = connect(Number(port), hostname)
  let bytes = 0
  const cut = (): void => {
    if (!open.delete(client)) return
    client.destroy()
    upstream.destroy()
  }
  open.add(client)
  for (const socket of [client, upstream]) {
    socket.on('error', cut)
    socket.on('close', cut)
  }
  client.on('data', (piece) => {
    bytes += piece.length
    if (bytes <= bytesMax) return void upstream.write(piece)
    cuts++
    cut()
  })
  upstream.on('data', (piece) => client.write(piece))
})

parentPort!.on('message', (bytes: number) => {
  bytesMax = bytes
  if (bytes === 0) for (const socket of open) socket.destroy()
  parentPort!.postMessage(cuts)
})
server.listen(0, '127.0.0.1', () =>
  parentPort!.postMessage(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
