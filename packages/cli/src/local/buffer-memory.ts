import { setFlagsFromString } from 'node:v8'

/** The one V8 that is known to have the flag; another would complain to the terminal. */
const knownV8 = /^13\./

/**
 * V8 collects all garbage each time that some 16 MiB of buffers have come, however little else there is: a third of the CPU time
 * of an upload. With this flag it counts buffers and objects against one limit (28 collections become 2 for a gigabyte,
 * and the process is a tenth larger). Only for a process of our own: it changes V8 for all that runs in it.
 */
export function collectBuffersSeldom(): void {
  if (knownV8.test(process.versions.v8))
    setFlagsFromString('--external-memory-accounted-in-global-limit')
}
