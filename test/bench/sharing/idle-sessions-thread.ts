import { parentPort, workerData } from 'node:worker_threads'
import { connectWebSocket, type Wire } from '@cairn/mount'
import { type SessionReply, sessionVersion } from '@cairn/protocol'

/** Read-write sessions that look at nothing. They do as little as they may: the machine is the server's, too. */
interface Data {
  readonly url: string
  readonly key: string
  readonly count: number
}

const { url, key, count } = workerData as Data

async function open(): Promise<void> {
  const welcomed = Promise.withResolvers<void>()
  let seq = 0
  const wire: Wire = await connectWebSocket(
    url,
    key,
  )({
    onReply: (reply: SessionReply) => {
      if (reply.type === 'welcome') {
        seq = reply.seq
        setInterval(() => wire.send({ type: 'renew' }), reply.leaseMs / 3)
        welcomed.resolve()
      } else if (reply.type === 'batch') wire.send({ type: 'seen', seq: ++seq })
      else if (reply.type === 'yield' || reply.type === 'forget')
        wire.send({ type: 'done', request: reply.id })
    },
    onClose: () => undefined,
  })
  wire.send({
    type: 'hello',
    version: sessionVersion,
    workspace: 'demo',
    branch: 'main',
    mode: 'share',
    session: '',
    seq: Number.MAX_SAFE_INTEGER,
    path: '',
  })
  await welcomed.promise
}

for (let n = 0; n < count; n++) await open()
parentPort!.postMessage('open')
