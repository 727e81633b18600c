import { createHash, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { InstanceStore } from '../instances/instance-store.ts'

const body = z.object({
  status: z.enum(['completed', 'failed']),
  response: z.object({ exitCode: z.number().int(), logs: z.string().max(1 << 20) }),
  error: z
    .string()
    .max(1 << 16)
    .optional(),
})

const route = /\/sandbox-jobs\/([A-Za-z0-9_-]{1,128})\/complete$/

export const callbackPath = (id: string): string => `sandbox-jobs/${id}/complete`

export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/**
 * Takes the message of a job that it has ended, for any server that speaks `fetch`. 404: there is no such job, or the
 * token is not that of it; the two look alike. 409: it was settled before.
 */
export async function takeCallback(store: InstanceStore, request: Request): Promise<Response> {
  const id = route.exec(new URL(request.url).pathname)?.[1]
  if (request.method !== 'POST' || id === undefined) return answer(404, 'there is no such route')
  const job = await store.findJob(id)
  const hash = hashToken(request.headers.get('x-job-token') ?? '')
  if (job === undefined || !timingSafeEqual(Buffer.from(hash), Buffer.from(job.tokenHash)))
    return answer(404, 'there is no such job')
  const parsed = body.safeParse(await request.json().catch(() => undefined))
  if (!parsed.success) return answer(400, 'want {status, response: {exitCode, logs}, error?}')
  const { status, response, error } = parsed.data
  const isFirst = await store.settleJob({
    ...job,
    status,
    ...response,
    ...(error !== undefined && { error }),
  })
  return isFirst ? new Response(null, { status: 204 }) : answer(409, 'the job was settled before')
}

function answer(status: number, message: string): Response {
  return Response.json({ message }, { status })
}
