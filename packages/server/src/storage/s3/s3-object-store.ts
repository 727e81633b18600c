import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import {
  type ObjectRange,
  checkKey,
  checkPrefix,
  type ObjectInfo,
  objectMissing,
  type ObjectStore,
} from '../object-store.ts'
import { describePlace, type S3Config } from './config.ts'
import { isMissing, isPastEnd, isTaken, s3Error } from './errors.ts'
import { probeS3 } from './probe.ts'

/** Objects in a bucket of any S3. What it needs of the store is asked by `probeS3`. */
export class S3ObjectStore implements ObjectStore {
  readonly #client: S3Client
  readonly #config: S3Config
  readonly #place: string

  constructor(config: S3Config, client: S3Client = openClient(config)) {
    this.#config = config
    this.#client = client
    this.#place = describePlace(config)
  }

  async put(key: string, ...parts: readonly Uint8Array[]): Promise<void> {
    const command = new PutObjectCommand({
      ...this.#object(key),
      Body: parts.length === 1 ? parts[0]! : Buffer.concat(parts),
      // Whatever is there is whole. The one condition that all stores understand alike.
      IfNoneMatch: '*',
    })
    try {
      await this.#client.send(command)
      // DURABLE: S3 answers once it holds the object.
    } catch (error) {
      if (!isTaken(error)) throw s3Error(this.#place, `store ${key} in`, error)
    }
  }

  async get(key: string, range?: ObjectRange): Promise<Uint8Array> {
    const command = new GetObjectCommand({ ...this.#object(key), ...rangeHeader(range) })
    try {
      return await readBody(await this.#client.send(command))
    } catch (error) {
      if (range && isPastEnd(error)) return new Uint8Array()
      throw isMissing(error)
        ? objectMissing(key, error)
        : s3Error(this.#place, `read ${key} from`, error)
    }
  }

  async delete(key: string): Promise<void> {
    const command = new DeleteObjectCommand(this.#object(key))
    try {
      await this.#client.send(command)
    } catch (error) {
      if (!isMissing(error)) throw s3Error(this.#place, `delete ${key} from`, error)
    }
  }

  async *list(prefix: string, after?: string): AsyncGenerator<ObjectInfo> {
    checkPrefix(prefix)
    const { bucket, prefix: root } = this.#config
    for (let last = after; ;) {
      const page = await this.#listPage({
        Bucket: bucket,
        Prefix: root + prefix,
        ...(last === undefined ? {} : { StartAfter: root + last }),
      })
      for (const { key, sizeBytes } of page.objects) {
        last = key.slice(root.length)
        yield { key: last, sizeBytes }
      }
      if (!page.more) return
    }
  }

  async close(): Promise<void> {
    this.#client.destroy()
  }

  async #listPage(
    input: ConstructorParameters<typeof ListObjectsV2Command>[0],
  ): Promise<{ objects: readonly ObjectInfo[]; more: boolean }> {
    try {
      const page = await this.#client.send(new ListObjectsV2Command(input))
      const objects = (page.Contents ?? []).map(({ Key = '', Size = 0 }) => ({
        key: Key,
        sizeBytes: Size,
      }))
      return { objects, more: page.IsTruncated === true && objects.length > 0 }
    } catch (error) {
      throw s3Error(this.#place, 'list', error)
    }
  }

  #object(key: string): { readonly Bucket: string; readonly Key: string } {
    checkKey(key)
    return { Bucket: this.#config.bucket, Key: this.#config.prefix + key }
  }
}

/** Opens a store that has shown at start-up that it can be relied on. */
export async function openS3(config: S3Config): Promise<S3ObjectStore> {
  const client = openClient(config)
  try {
    await probeS3(client, config)
    return new S3ObjectStore(config, client)
  } catch (error) {
    client.destroy()
    throw error
  }
}

export function openClient(config: S3Config): S3Client {
  const { endpoint, region, credentials, timeoutMs } = config
  return new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    // The SDK writes into what it is given.
    ...(credentials === undefined ? {} : { credentials: { ...credentials } }),
    // By default bodies go out in a framing that Ceph and Swift refuse.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Retrying is a decorator's, where it can be seen.
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: Math.min(timeoutMs, 5000),
      requestTimeout: timeoutMs,
      // Without it the SDK warns, and goes on waiting.
      throwOnRequestTimeout: true,
      socketTimeout: timeoutMs,
    },
  })
}

function rangeHeader(range: ObjectRange | undefined): { readonly Range?: string } {
  return range ? { Range: `bytes=${range.start}-${range.start + range.length - 1}` } : {}
}

async function readBody({ Body, ContentLength }: GetObjectCommandOutput): Promise<Uint8Array> {
  const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array()
  if (ContentLength === undefined || bytes.length === ContentLength) return bytes
  throw new Error(`the answer broke off after ${bytes.length} of ${ContentLength} bytes`)
}
