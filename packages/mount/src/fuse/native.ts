import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { CairnError } from '@cairn/protocol'
import { buildScript, findShipped } from './shipped.ts'

declare const channelBrand: unique symbol
/** An open /dev/fuse that the event loop watches. */
export type Channel = { readonly [channelBrand]: true }

/** native/*.c. A negative number is an errno. */
export interface FuseIo {
  mount(source: string, dir: string, flags: number, options: string): number
  /** In another thread, because this one may have to answer the kernel meanwhile. */
  umount(dir: string, flags: number): Promise<number>
  /** A descriptor that ends a FUSE connection when something is written to it. Needs root, and no mounted fusectl. */
  openAbort(connection: number): number
  socketPair(): [number, number] | number
  /** The descriptor that was sent through a UNIX socket; does not wait for it. */
  recvFd(socket: number): number
  sendFd(socket: number, fd: number): number
  /**
   * Watches a mounted descriptor (an unmounted one is never readable) and calls `onReadable`. Requests
   * are read into `request`, replies are sent from `reply`; both belong to the channel until it is closed.
   */
  open(
    fd: number,
    request: Uint8Array,
    reply: Uint8Array,
    spinMicroseconds: number,
    onReadable: () => void,
  ): Channel | number
  /** Bytes of the next request; -EAGAIN: there is none; -ENODEV: unmounted. */
  recv(channel: Channel): number
  /** Sends `length` bytes of the reply buffer (0: nothing), then does as `recv`. */
  sendRecv(channel: Channel, length: number): number
  /** Sends `length` bytes of the reply buffer and then some of `payload`, as one reply. */
  sendv(
    channel: Channel,
    length: number,
    payload: Uint8Array,
    offset: number,
    payloadLength: number,
  ): number
  send(channel: Channel, bytes: Uint8Array, length: number): number
  /** Stops watching. The descriptor stays open: it is the caller's. */
  close(channel: Channel): void
  /** A file in memory alone, which lasts as long as some process has its descriptor. */
  openMemory(): number
  /**
   * The first `size` bytes of a file as memory. They get their room on the disk first, so that writing to them cannot
   * fail for want of any; what is written survives this process. A buffer of that size that was left becomes this one.
   */
  mapFile(fd: number, size: number, left: ArrayBuffer | undefined): ArrayBuffer | number
  /** The same, by another thread. */
  mapFileLater(
    fd: number,
    size: number,
    left: ArrayBuffer | undefined,
  ): Promise<ArrayBuffer | number>
  /** The buffer is the file no more, and holds nothing. */
  leaveFile(buffer: ArrayBuffer): number
}

let loaded: Promise<FuseIo> | undefined

export function loadFuseIo(): Promise<FuseIo> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<FuseIo> {
  return createRequire(import.meta.url)(findShippedFuseIo() ?? (await build())) as FuseIo
}

/** What was compiled on this machine has no C library in its name. */
export function findShippedFuseIo(): string | undefined {
  const name = `fuseio-${process.platform}-${process.arch}`
  return findShipped([`${name}.node`, `${name}-${findLibc()}.node`])
}

/** The C library that Node was built for: what it loads must be of the same. */
function findLibc(): 'glibc' | 'musl' {
  const head = Buffer.alloc(4096)
  try {
    const program = openSync('/proc/self/exe', 'r')
    readSync(program, head)
    closeSync(program)
  } catch {
    // Without /proc there is no mount either.
  }
  return head.includes('/ld-musl-') ? 'musl' : 'glibc'
}

async function build(): Promise<string> {
  if (!existsSync(buildScript))
    throw new CairnError('mount_failed', {
      what: 'load the FUSE transport',
      reason: `no FUSE transport was shipped for ${process.platform} on ${process.arch}`,
      hint: 'Build cairn on such a machine: npm run build.',
    })
  const { buildFuseIo } = (await import(buildScript.href)) as { buildFuseIo: () => string }
  return buildFuseIo()
}
