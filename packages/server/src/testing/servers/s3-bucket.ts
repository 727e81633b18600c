import { CreateBucketCommand } from '@aws-sdk/client-s3'
import type { S3Config } from '../../storage/s3/config.ts'
import { openClient } from '../../storage/s3/s3-object-store.ts'
import type { CephServer } from './ceph.ts'

/** Makes an empty bucket and gives what it takes to use it. */
export async function createBucket(server: CephServer): Promise<S3Config> {
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
