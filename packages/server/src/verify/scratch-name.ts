import { randomBytes } from 'node:crypto'

const dayMs = 24 * 60 * 60 * 1000
const pattern = /^cairn_verify_(\d{14})_[0-9a-f]{8}$/

/** `cairn_verify_20261118125900_1a2b3c4d`: a schema, a folder of a bucket or a directory. The time is UTC. */
export function makeScratchName(nowMs: number): string {
  const digits = new Date(nowMs).toISOString().replace(/\D/g, '').slice(0, 14)
  return `cairn_verify_${digits}_${randomBytes(4).toString('hex')}`
}

/** Old: a verification made it, and cannot be running any more. Undefined: something else has that name. */
export function judgeScratch(name: string, nowMs: number): 'young' | 'old' | undefined {
  const digits = pattern.exec(name)?.[1]
  if (digits === undefined) return undefined
  const time = digits.replace(/(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)/, '$1-$2-$3T$4:$5:$6Z')
  return nowMs - Date.parse(time) > dayMs ? 'old' : 'young'
}
