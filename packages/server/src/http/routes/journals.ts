import { Readable } from 'node:stream'
import { journalRoutes as table } from '@cairn/protocol/routes'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { findEntries } from '../../journal/find.ts'
import type { JournalAsker, JournalKeeper } from '../../journal/journal-keeper.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf } from '../add-routes.ts'
import { askerOf, openWorkspace } from '../context.ts'
import { sendEvents } from '../event-stream.ts'
import { followJournal } from '../follow-journal.ts'
import { spanOfQuery } from '../time-query.ts'

async function openJournals(
  workspaces: WorkspaceKeeper,
  request: FastifyRequest,
): Promise<JournalAsker> {
  const { info } = await openWorkspace(workspaces, request)
  return { workspace: info.id, ...askerOf(request) }
}

export function journalRoutes(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  journals: JournalKeeper,
): void {
  writeRoutes(app, workspaces, journals)
  readRoutes(app, workspaces, journals)
  entryRoutes(app, workspaces, journals)
}

function writeRoutes(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  journals: JournalKeeper,
): void {
  const add = adderOf(app, table)

  add('POST /v1/workspaces/:workspace/journals', { access: 'owner' }, async (request, reply) => {
    const asker = await openJournals(workspaces, request)
    void reply.code(201)
    return journals.create(asker, request.body)
  })

  // A token that works in a workspace may append what it does. It may not read what others appended.
  add(
    'POST /v1/workspaces/:workspace/journals/:journal/entries',
    { access: 'workspace' },
    async (request, reply) => {
      const asker = await openJournals(workspaces, request)
      void reply.code(201)
      return journals.append(asker, request.params.journal, request.body.entries)
    },
  )

  add(
    'POST /v1/workspaces/:workspace/journals/:journal/seal',
    { access: 'owner' },
    async (request) => {
      const asker = await openJournals(workspaces, request)
      return journals.seal(asker, request.params.journal, request.body.reason)
    },
  )
}

function readRoutes(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  journals: JournalKeeper,
): void {
  const add = adderOf(app, table)

  add('GET /v1/workspaces/:workspace/journals', { access: 'owner' }, async (request) => {
    const { workspace } = await openJournals(workspaces, request)
    return journals.list(workspace, request.query.cursor ?? '', request.query.limit)
  })

  add('GET /v1/workspaces/:workspace/journals/:journal', { access: 'owner' }, async (request) => {
    const { workspace } = await openJournals(workspaces, request)
    return journals.get(workspace, request.params.journal)
  })

  add(
    'GET /v1/workspaces/:workspace/journals/:journal/verify',
    { access: 'owner' },
    async (request) => {
      const { workspace } = await openJournals(workspaces, request)
      return journals.verify(workspace, request.params.journal)
    },
  )

  add(
    'GET /v1/workspaces/:workspace/journals/:journal/export',
    { access: 'owner' },
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

function entryRoutes(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  journals: JournalKeeper,
): void {
  const add = adderOf(app, table)

  add(
    'GET /v1/workspaces/:workspace/journals/:journal/entries',
    { access: 'owner' },
    async (request) => {
      const { workspace } = await openJournals(workspaces, request)
      const { cursor = 0, limit } = request.query
      return journals.read(workspace, request.params.journal, cursor, limit)
    },
  )

  add(
    'GET /v1/workspaces/:workspace/journals/:journal/events',
    { access: 'owner' },
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
      return reply
    },
  )

  add('GET /v1/workspaces/:workspace/journal-entries', { access: 'owner' }, async (request) => {
    const { workspace } = await openJournals(workspaces, request)
    const { cursor, limit, ...filter } = request.query
    const span = spanOfQuery(filter)
    return findEntries(journals, workspace, { ...filter, ...span }, cursor, limit)
  })
}
