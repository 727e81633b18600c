import { isCairnError } from '@cairn/sdk'
import type { Remote } from '../remote/open.ts'
import type { Moving } from './tree.ts'
import type { UploadRecords } from './upload-records.ts'

export interface UploadSource {
  readonly blob: Blob
  readonly mode: string
  /** Another whenever the file may have changed. */
  readonly identity: string
}

export interface UploadPlan {
  readonly records: UploadRecords
  /** Whether to go on with an earlier one. It is remembered in any case, for next time. */
  readonly resume: boolean
  /** For each file that is written. */
  readonly tags: Readonly<Record<string, string>> | undefined
}

/** Sends a large file in blocks. */
export async function uploadFile(
  remote: Remote,
  path: string,
  { blob, mode, identity }: UploadSource,
  { records, resume, tags }: UploadPlan,
  moving: Moving,
): Promise<void> {
  const key = records.keyOf(remote, path, identity)
  let told = 0
  let saving: Promise<void> | undefined
  const send = async (resumeId: string | undefined): Promise<void> => {
    await remote.files.upload(path, blob, {
      mode,
      tags,
      resumeId,
      signal: moving.signal,
      onProgress: ({ uploadId, sentBytes }) => {
        saving ??= records.save(key, uploadId)
        moving.onBytes(sentBytes - told)
        told = sentBytes
      },
    })
  }
  try {
    const earlier = resume ? await records.find(key) : undefined
    await send(earlier).catch((error: unknown) => {
      // Expired, or finished by another process.
      if (earlier === undefined || !isCairnError(error, 'not_found')) throw error
      saving = undefined
      return send(undefined)
    })
  } finally {
    await saving
  }
  await records.forget(key)
}
