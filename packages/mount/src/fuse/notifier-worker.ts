/**
 * Writes notifications in the order they come. A thread of its own, because such a write may wait for a lock that a
 * program holds while its request waits for the thread that answers: there it would hang for good.
 *
 * As text, because a bundle of one file has no second one to start a thread from. Not worth telling: the kernel does
 * not know the inode or the name (any more), it is in use, or the mount is gone.
 */
export const notifierWorkerText: string = `
const { writeSync } = require('node:fs')
const { parentPort, workerData: { fd, written } } = require('node:worker_threads')
const harmless = new Set(['ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EBUSY', 'ENODEV', 'ENOTCONN'])

function writeAll(bytes) {
  const { buffer, byteOffset, length } = bytes
  const view = new DataView(buffer, byteOffset, length)
  for (let at = 0; at < length;) {
    const end = at + view.getUint32(at, true)
    write(bytes.subarray(at, end))
    at = end
  }
}

function write(bytes) {
  try {
    writeSync(fd, bytes)
  } catch (error) {
    if (!harmless.has(error.code)) parentPort.postMessage({ failed: error.message })
  }
  Atomics.add(written, 0, 1)
}

parentPort.on('message', (message) => {
  if (message === 'end') parentPort.close()
  else if (typeof message === 'number') parentPort.postMessage({ settled: message })
  else writeAll(message)
})
`
