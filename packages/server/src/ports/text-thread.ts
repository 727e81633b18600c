// The thread for the lines of large files.
import { parentPort } from 'node:worker_threads'
import { runTextJob } from './text-jobs.ts'
import type { TextReply, TextRequest } from './text-messages.ts'

const port = parentPort!

port.on('message', ({ id, job }: TextRequest) => port.postMessage(answer(id, job)))

function answer(id: number, job: TextRequest['job']): TextReply {
  try {
    return { id, result: runTextJob(job) }
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : 'it failed' }
  }
}
