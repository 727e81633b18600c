// The thread that writes. It imports nothing by a package's name: a worker thread is started by Node alone, which
// knows no `source` condition unless told.
import { parentPort, workerData } from 'node:worker_threads'
import { type Parcel, unpack } from './parcel.ts'
import { sqliteFailure } from './transactions.ts'
import { SqliteWriter } from './writer.ts'

const port = parentPort!
try {
  serve(new SqliteWriter(String(workerData)))
} catch (error) {
  port.postMessage({ type: 'failed', failure: sqliteFailure(error) })
}

function serve(writer: SqliteWriter): void {
  port.on('message', (request: Parcel | 'close') => {
    if (request !== 'close') return port.postMessage(writer.run(unpack(request)))
    writer.close()
    // Without it the port keeps the thread alive.
    port.close()
  })
  port.postMessage({ type: 'done' })
}
