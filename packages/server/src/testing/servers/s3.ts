import { CreateBucketCommand } from '@aws-sdk/client-s3'
import { parseS3Url, type S3Config } from '../../storage/s3/config.ts'
import { openClient, S3ObjectStore } from '../../storage/s3/s3-object-store.ts'
import { CephServer, whyNoCeph } from './ceph.ts'
import { askShared } from './shared.ts'

export type { S3Config }

/** A bucket of the operator's own, as `cairn serve --objects` takes it; only a folder of it is used. */
const outside = process.env['CAIRN_TEST_S3']

export const whyNoS3: string | undefined = outside === undefined ? whyNoCeph : undefined

/** An S3 that tests share with others, and therefore neither stop nor break. */
export interface S3Server {
  /** Gives an empty place, and what it takes to use it: a bucket, or a folder of one. */
  createBucket(): Promise<S3Config>
  /** Leaves nothing behind. */
  stop(): Promise<void>
}

/** The S3 of CAIRN_TEST_S3, or the Ceph of this run. */
export async function startS3(): Promise<S3Server> {
  if (outside !== undefined) return new OutsideBucket(parseS3Url(outside))
  const ceph = await startCeph()
  return { createBucket: () => createBucket(ceph), stop: () => ceph.stop() }
}

/** A Ceph that tests share with others, and therefore neither stop nor break. */
export interface SharedCeph extends Pick<CephServer, 'port' | 'endpoint' | 'credentials'> {
  stop(): Promise<void>
}

export async function startCeph(): Promise<SharedCeph> {
  const shared = await askShared<Pick<SharedCeph, 'port' | 'endpoint' | 'credentials'>>('ceph')
  return shared === undefined ? CephServer.start() : { ...shared, stop: async () => {} }
}

class OutsideBucket implements S3Server {
  readonly #config: S3Config
  readonly #folders: S3Config[] = []

  constructor(config: S3Config) {
    this.#config = config
  }

  async createBucket(): Promise<S3Config> {
    const prefix = `${this.#config.prefix}cairn-test/${crypto.randomUUID()}/`
    const folder = { ...this.#config, prefix }
    this.#folders.push(folder)
    return folder
  }

  async stop(): Promise<void> {
    for (const folder of this.#folders.splice(0)) {
      const store = new S3ObjectStore(folder)
      for await (const { key } of store.list('')) await store.delete(key)
      await store.close()
    }
  }
}

/** Makes an empty bucket and gives what it takes to use it. */
export async function createBucket(
  server: Pick<SharedCeph, 'endpoint' | 'credentials'>,
): Promise<S3Config> {
  const config: S3Config = {
    bucket: `test-${crypto.randomUUID()}`,
    endpoint: server.endpoint,
    region: 'us-east-1',
    prefix: '',
    credentials: server.credentials,
    timeoutMs: 20_000,
  }
  const client = openClient(config)
  try {
    await client.send(new CreateBucketCommand({ Bucket: config.bucket }))
  } finally {
    client.destroy()
  }
  return config
}

/** The address of what a configuration names, as `cairn serve --objects` takes it. */
export function s3UrlOf({ bucket, endpoint, region, prefix, credentials }: S3Config): string {
  const at = endpoint === undefined ? {} : { endpoint }
  const options = new URLSearchParams({ ...at, region, prefix, ...credentials })
  return `s3://${bucket}?${options.toString()}`
}
