import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type EntryFilter, findEntries } from '../../journal/find.ts'
import { followJournal } from '../follow-journal.ts'
import type { JournalAsker, Journals, JournalWish } from '../../journal/journals.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { askerOf, openWorkspace } from '../context.ts'
import { sendEvents } from '../event-stream.ts'
import { limitSchema, objectSchema, workspaceParams } from '../schema.ts'
import { spanOfQuery } from '../time-query.ts'

const url = '/v1/workspaces/:workspace/journals'
const idSchema = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' } as const
const text = { type: 'string', minLength: 1, maxLength: 1024 } as const
const time = { type: 'string', maxLength: 64, description: 'ISO 8601' } as const
const seqSchema = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const
const journalParams: object = {
  type: 'object',
  required: ['workspace', 'journal'],
  properties: { ...workspaceParams.properties, journal: idSchema },
}

interface JournalParams {
  readonly workspace: string
  readonly journal: string
}

async function openJournals(
  workspaces: Workspaces,
  request: FastifyRequest,
): Promise<JournalAsker> {
  const { info } = await openWorkspace(workspaces, request)
  return { workspace: info.id, ...askerOf(request) }
}

export function journalRoutes(
  app: FastifyInstance,
  workspaces: Workspaces,
  journals: Journals,
): void {
  beginRoutes(app, workspaces, journals)
  appendRoutes(app, workspaces, journals)
  readRoutes(app, workspaces, journals)
  proofRoutes(app, workspaces, journals)
}

function beginRoutes(app: FastifyInstance, workspaces: Workspaces, journals: Journals): void {
  app.post<{ Body: JournalWish }>(
    url,
    {
      config: { access: 'owner' },
      schema: {
        summary: 'Begin a journal',
        params: workspaceParams,
        body: objectSchema({
          id: idSchema,
          title: { type: 'string', maxLength: 1024 },
          kind: { type: 'string', maxLength: 128 },
          meta: { type: 'object', maxProperties: 64, additionalProperties: text },
        }),
      },
    },
    async (request, reply) => {
      const asker = await openJournals(workspaces, request)
      void reply.code(201)
      return journals.create(asker, request.body)
    },
  )

  app.get<{ Querystring: { cursor?: string; limit: number } }>(
    url,
    {
      config: { access: 'owner' },
      schema: {
        summary: 'List journals by id',
        params: workspaceParams,
        querystring: objectSchema({ cursor: idSchema, limit: limitSchema }),
      },
    },
    async (request) => {
      const { workspace } = await openJournals(workspaces, request)
      return journals.list(workspace, request.query.cursor ?? '', request.query.limit)
    },
  )

  app.get<{ Params: JournalParams }>(
    `${url}/:journal`,
    {
      config: { access: 'owner' },
      schema: { summary: 'A journal’s header and signed head', params: journalParams },
    },
    async (request) => {
      const { workspace } = await openJournals(workspaces, request)
      return journals.get(workspace, request.params.journal)
    },
  )
}

function appendRoutes(app: FastifyInstance, workspaces: Workspaces, journals: Journals): void {
  app.post<{ Params: JournalParams; Body: { entries: unknown[] } }>(
    `${url}/:journal/entries`,
    {
      // A token that works in a workspace may append what it does. It may not read what others
      // appended.
      config: { access: 'workspace' },
      schema: {
        summary: 'Append entries, all or none, once for each Idempotency-Key',
        params: journalParams,
        body: objectSchema({ entries: { type: 'array' } }, ['entries']),
      },
    },
    async (request, reply) => {
      const asker = await openJournals(workspaces, request)
      void reply.code(201)
      return journals.append(asker, request.params.journal, request.body.entries)
    },
  )

  app.post<{ Params: JournalParams; Body: { reason?: string } }>(
    `${url}/:journal/seal`,
    {
      config: { access: 'owner' },
      schema: {
        summary: 'End a journal for good',
        params: journalParams,
        body: objectSchema({ reason: text }),
      },
    },
    async (request) => {
      const asker = await openJournals(workspaces, request)
      return journals.seal(asker, request.params.journal, request.body.reason)
    },
  )
}

function readRoutes(app: FastifyInstance, workspaces: Workspaces, journals: Journals): void {
  app.get<{ Params: JournalParams; Querystring: { cursor?: number; limit: number } }>(
    `${url}/:journal/entries`,
    {
      config: { access: 'owner' },
      schema: {
        summary: 'Read entries, oldest first, after the number in cursor',
        params: journalParams,
        querystring: objectSchema({ cursor: seqSchema, limit: limitSchema }),
      },
    },
    async (request) => {
      const { workspace } = await openJournals(workspaces, request)
      const { cursor = 0, limit } = request.query
      return journals.read(workspace, request.params.journal, cursor, limit)
    },
  )

  app.get<{ Params: JournalParams; Querystring: { after?: number } }>(
    `${url}/:journal/events`,
    {
      config: { access: 'owner' },
      schema: {
        summary: 'Follow a journal as it grows (server-sent events)',
        params: journalParams,
        querystring: objectSchema({ after: seqSchema }),
      },
    },
    async (request, reply) => {
      const { workspace } = await openJournals(workspaces, request)
      const { journal } = request.params
      const { head } = await journals.get(workspace, journal)
      const after = request.query.after ?? head.seq
      await sendEvents(reply, `id: ${after}\n: following\n\n`, async function* (signal) {
        for await (const entry of followJournal(journals, workspace, journal, after, signal))
          yield `id: ${entry.seq}\nevent: entry\ndata: ${JSON.stringify(entry)}\n\n`
        yield 'event: end\ndata: sealed\n\n'
      })
    },
  )

  app.get<{ Querystring: EntryFilter & { cursor?: string; limit: number } }>(
    '/v1/workspaces/:workspace/journal-entries',
    {
      config: { access: 'owner' },
      schema: {
        summary: 'Find entries of all journals, in the order of time',
        params: workspaceParams,
        querystring: objectSchema({
          ...Object.fromEntries(
            ['journal', 'type', 'kind', 'meta', 'actor', 'status', 'subject', 'label'].map(
              (name) => [name, text],
            ),
          ),
          since: time,
          until: time,
          cursor: text,
          limit: limitSchema,
        }),
      },
    },
    async (request) => {
      const { workspace } = await openJournals(workspaces, request)
      const { cursor, limit, ...filter } = request.query
      const span = spanOfQuery(filter)
      return findEntries(journals, workspace, { ...filter, ...span }, cursor, limit)
    },
  )
}

function proofRoutes(app: FastifyInstance, workspaces: Workspaces, journals: Journals): void {
  app.get<{ Params: JournalParams }>(
    `${url}/:journal/verify`,
    {
      config: { access: 'owner' },
      schema: {
        summary: 'Check a journal from its first entry to its head',
        params: journalParams,
      },
    },
    async (request) => {
      const { workspace } = await openJournals(workspaces, request)
      return journals.verify(workspace, request.params.journal)
    },
  )

  app.get<{ Params: JournalParams }>(
    `${url}/:journal/export`,
    {
      config: { access: 'owner' },
      schema: {
        summary: 'All of a journal in lines of canonical JSON, to be checked anywhere',
        params: journalParams,
      },
    },
    async (request, reply) => {
      const { workspace } = await openJournals(workspaces, request)
      const { journal } = request.params
      await journals.get(workspace, journal)
      const lines = journals.export(workspace, journal)
      void reply.type('application/x-ndjson; charset=utf-8')
      return reply.send(Readable.from(lines, { objectMode: false }))
    },
  )
}
