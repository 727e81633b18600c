import { CairnError } from '@cairn/protocol'

export interface S3Config {
  readonly bucket: string
  /** Undefined for AWS itself. */
  readonly endpoint: string | undefined
  readonly region: string
  /** '' or ends with a slash. */
  readonly prefix: string
  /** Undefined: as the AWS SDK finds them, in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY first. */
  readonly credentials: S3Credentials | undefined
  /** How long a request may wait for its answer, and an answer for its next bytes. */
  readonly timeoutMs: number
}

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const requestTimeoutMs = 20_000
const optionNames = ['endpoint', 'region', 'prefix', 'accessKeyId', 'secretAccessKey', 'timeoutMs']

/** `s3://bucket?endpoint=https://…&region=…&prefix=…&accessKeyId=…&secretAccessKey=…&timeoutMs=…`; all options may be absent. */
export function parseS3Url(text: string): S3Config {
  const url = URL.parse(text)
  if (url?.protocol !== 's3:' || !url.hostname || !['', '/'].includes(url.pathname))
    throw unreadable('want s3://bucket?endpoint=https://…&region=…&prefix=…')
  const options = readOptions(url)
  const prefix = (options['prefix'] ?? '').replace(/^\/+|\/+$/g, '')
  return {
    bucket: url.hostname,
    endpoint: options['endpoint'],
    region: options['region'] ?? process.env['AWS_REGION'] ?? 'us-east-1',
    prefix: prefix === '' ? '' : `${prefix}/`,
    credentials: readCredentials(options),
    timeoutMs: readTimeout(options['timeoutMs']),
  }
}

type Options = Readonly<Record<string, string | undefined>>

function readOptions(url: URL): Options {
  const unknown = [...url.searchParams.keys()].find((name) => !optionNames.includes(name))
  if (unknown !== undefined)
    throw unreadable(`it has the option '${unknown}'; there are ${optionNames.join(', ')}`)
  const options: Options = Object.fromEntries(url.searchParams)
  if (options['endpoint'] !== undefined && !URL.canParse(options['endpoint']))
    throw unreadable('its endpoint is no URL')
  return options
}

function readTimeout(text: string | undefined): number {
  if (text === undefined) return requestTimeoutMs
  if (/^[1-9]\d{2,5}$/.test(text)) return Number(text)
  throw unreadable('its timeoutMs is not a number of milliseconds from 100 to 999999')
}

function readCredentials({ accessKeyId, secretAccessKey }: Options): S3Credentials | undefined {
  if (accessKeyId !== undefined && secretAccessKey !== undefined)
    return { accessKeyId, secretAccessKey }
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined
  throw unreadable('it has only one of accessKeyId and secretAccessKey')
}

function unreadable(why: string): CairnError {
  return new CairnError('storage_misconfigured', {
    what: 'read the address of the object store',
    reason: why,
  })
}

/** For messages: never with the credentials. */
export function describePlace({ bucket, endpoint, prefix }: S3Config): string {
  return `s3://${bucket}/${prefix}${endpoint === undefined ? '' : ` at ${endpoint}`}`
}
