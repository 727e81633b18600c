import { randomUUID } from 'node:crypto'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { CairnError } from '@cairn/protocol'
import { describePlace, type S3Config } from './config.ts'
import { errorName, httpStatus, isTaken, s3Error } from './errors.ts'

/**
 * Asks a store at start-up for everything that Cairn builds on: credentials, clock, bucket, ranges, and a PUT
 * that leaves an existing object alone. Some stores ignore that condition and overwrite. Rejects with
 * `storage_misconfigured` and what to do about it, or with `storage_unavailable`.
 */
export async function probeS3(client: S3Client, config: S3Config): Promise<void> {
  const place = describePlace(config)
  const object = { Bucket: config.bucket, Key: `${config.prefix}probe/${randomUUID()}` }
  const put = (text: string): Promise<unknown> =>
    client.send(new PutObjectCommand({ ...object, Body: Buffer.from(text), IfNoneMatch: '*' }))
  try {
    await put('first')
    if (!(await isRefused(put('other')))) throw unfit(place, overwrites)
    const { Body } = await client.send(new GetObjectCommand({ ...object, Range: 'bytes=1-3' }))
    if ((await Body?.transformToString()) !== 'irs') throw unfit(place, wrongRange)
    await client.send(new DeleteObjectCommand(object))
  } catch (error) {
    throw explain(place, error)
  }
}

const overwrites =
  'it overwrites objects although asked not to (If-None-Match: *). Use a store with conditional PUT'
const wrongRange = 'it gives other bytes than the range that was asked for'

/** By the error's name; the status is for stores that have names of their own. */
const remedies: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: 'it does not know the access key. Check AWS_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'the secret does not fit the access key. Check AWS_SECRET_ACCESS_KEY',
  RequestTimeTooSkewed: "this machine's clock differs too much from the store's. Set the clock",
  AccessDenied: 'the key may not read and write there. Allow it PUT, GET, DELETE and LIST',
  NoSuchBucket: 'the bucket does not exist. Create it',
  PermanentRedirect: 'the bucket is in another region. Name it with &region=',
  CredentialsProviderError:
    'there are no credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  NotImplemented: 'it has no conditional PUT (If-None-Match: *). Use a store that has',
}

async function isRefused(put: Promise<unknown>): Promise<boolean> {
  try {
    await put
    return false
  } catch (error) {
    if (isTaken(error)) return true
    throw error
  }
}

function explain(place: string, error: unknown): CairnError {
  if (error instanceof CairnError) return error
  const status = httpStatus(error)
  const remedy =
    remedies[errorName(error)] ?? (status === 501 ? remedies['NotImplemented'] : undefined)
  return remedy === undefined ? s3Error(place, 'use', error) : unfit(place, remedy, error)
}

function unfit(place: string, why: string, cause?: unknown): CairnError {
  return new CairnError('storage_misconfigured', {
    what: `use ${place}`,
    reason: why,
    subject: place,
    cause,
  })
}
