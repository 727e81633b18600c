import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3'
import type { ObjectStore } from '../storage/object-store.ts'
import { withRetry } from '../storage/retry.ts'
import { describePlace, type S3Config } from '../storage/s3/config.ts'
import { probeS3 } from '../storage/s3/probe.ts'
import { openClient, S3ObjectStore } from '../storage/s3/s3-object-store.ts'
import { checkClock } from './clock-skew.ts'
import type { VerifyPlace } from './place.ts'
import { fail, type Finding, ok } from './report.ts'

/** Everything of this check is below it, so that leftovers are found without listing the bucket. */
const folder = 'cairn-verify/'
const deletesAtOnce = 16

/** Scratch folders of the operator's bucket, below the prefix that a server would use. */
export class S3Place implements VerifyPlace<ObjectStore> {
  readonly name: string
  readonly makeHint = 'Allow the key PUT, GET, DELETE and LIST on the bucket'
  readonly #config: S3Config
  readonly #client: S3Client
  readonly #root: ObjectStore

  private constructor(config: S3Config, client: S3Client) {
    this.#config = config
    this.#client = client
    this.name = describePlace(config)
    this.#root = this.#storeBelow(folder)
  }

  /** Rejects, with what to do about it, where the bucket cannot be used at all. */
  static async open(config: S3Config): Promise<S3Place> {
    const client = openClient(config)
    try {
      await probeS3(client, config)
      return new S3Place(config, client)
    } catch (error) {
      client.destroy()
      throw error
    }
  }

  async list(): Promise<readonly string[]> {
    const names = new Set<string>()
    for await (const { key } of this.#root.list('')) names.add(key.split('/')[0]!)
    return [...names]
  }

  async make(name: string): Promise<ObjectStore> {
    return this.#storeBelow(`${folder}${name}/`)
  }

  async remove(name: string): Promise<void> {
    const keys = this.#root.list(`${name}/`)[Symbol.asyncIterator]()
    const carry = async (): Promise<void> => {
      for (let next = await keys.next(); !next.done; next = await keys.next())
        await this.#root.delete(next.value.key)
    }
    await Promise.all(Array.from({ length: deletesAtOnce }, carry))
  }

  removal(name: string): string {
    return `aws s3 rm --recursive s3://${this.#config.bucket}/${this.#config.prefix}${folder}${name}/`
  }

  async check(): Promise<readonly Finding[]> {
    const probed = [
      ok('conditional writes', 'If-None-Match: * leaves an existing object alone'),
      ok('access', 'PUT, GET with a range and DELETE are allowed'),
    ]
    try {
      const clock = await checkClock('the object store', () => this.#listForTime())
      return [...probed, ok('listing', 'LIST is allowed'), clock]
    } catch (error) {
      return [...probed, fail('listing', `LIST is refused (${String(error)})`, this.makeHint)]
    }
  }

  async close(): Promise<void> {
    this.#client.destroy()
  }

  /** From the header of an answer. It has whole seconds: on average half of one is missing. */
  async #listForTime(): Promise<number> {
    const { bucket, prefix } = this.#config
    const command = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 })
    let date: string | undefined
    command.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args)
        const { headers } = result.response as { headers?: Readonly<Record<string, string>> }
        date = headers?.['date']
        return result
      },
      { step: 'deserialize' },
    )
    await this.#client.send(command)
    if (date === undefined) throw new Error('its answer has no Date')
    return Date.parse(date) + 500
  }

  #storeBelow(below: string): ObjectStore {
    const config = { ...this.#config, prefix: this.#config.prefix + below }
    return withRetry(new S3ObjectStore(config, this.#client))
  }
}
