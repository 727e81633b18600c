import type { Hash } from '@cairn/protocol'

/**
 * SHA-256. Synchronous, because tree nodes are small: 4 KiB take about 3 µs, less than a hop to a worker.
 * Content is hashed through ContentWorker instead, which may use workers.
 */
export type HashFunction = (bytes: Uint8Array) => Hash
