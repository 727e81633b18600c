import { anyOf, boolean, integer, list, object, oneOf, optional, text } from '../schema/build.ts'
import {
  flag,
  limit,
  page,
  pathQuery,
  pointQuery,
  seq,
  timeQuery,
  workspaceParams,
} from '../schema/common.ts'
import { media, routes } from '../schema/route.ts'
import {
  BatchOperation,
  batchOperationsMax,
  Blame,
  ChangeEvent,
  ChangeReceipt,
  FileEntry,
  FileStat,
  ImportReceipt,
  LogEntry,
  mode,
  operationBodies,
  tagPair,
  tagsMax,
  Upload,
  uploadBody,
} from './file-shapes.ts'
import { RadarEvent, UndoReceipt } from './layer-shapes.ts'

const bytes = media('application/octet-stream')
/** The longest path, in base64. */
const cursorCharactersMax = 5500
const blocksMax = 65_536

export const fileRoutes = routes({
  'GET /v1/workspaces/:workspace/files': {
    summary: 'Read a file; with ?stat, ?list, ?history or ?archive, what is known of a path',
    params: workspaceParams,
    query: object({
      ...pointQuery.fields,
      stat: optional(flag()),
      list: optional(flag()),
      history: optional(flag()),
      recursive: optional(flag()),
      follow: optional(flag()),
      archive: optional(oneOf(['tar', 'tgz'], { description: 'a directory as an archive' })),
      cursor: optional(text({ maxLength: cursorCharactersMax })),
      limit: optional(integer({ minimum: 1, maximum: 1000 })),
    }),
    answers: {
      200: [
        anyOf(FileStat, page(FileEntry), page(LogEntry)),
        bytes,
        media('application/x-ndjson', FileEntry),
        media('application/x-tar'),
        media('application/gzip'),
      ],
      206: bytes,
      304: null,
      416: null,
    },
  },
  'PUT /v1/workspaces/:workspace/files': {
    summary: 'Make or replace a file with the body',
    params: workspaceParams,
    query: object({
      ...pointQuery.fields,
      mode: optional(mode()),
      parents: optional(flag()),
      tag: optional(anyOf(tagPair, list(tagPair, { maxItems: tagsMax }))),
    }),
    body: bytes,
    answers: { 200: ChangeReceipt, 201: ChangeReceipt },
  },
  'PATCH /v1/workspaces/:workspace/files': {
    summary: 'Write the body at the offset that Content-Range names',
    params: workspaceParams,
    query: pointQuery,
    body: bytes,
    answers: { 200: ChangeReceipt },
  },
  'POST /v1/workspaces/:workspace/files': {
    summary: 'Change what is at a path; the query names the verb',
    params: workspaceParams,
    query: object({
      ...pointQuery.fields,
      parents: optional(flag()),
      import: optional(
        oneOf(['', 'true', 'false'], { description: 'the body is a tar archive to put here' }),
      ),
      times: optional(oneOf(['archive', 'now'], { description: 'of imported files' })),
      inodes: optional(
        oneOf(['', 'true', 'false'], { description: 'tell the inodes of imported files' }),
      ),
      append: optional(flag()),
      mkdir: optional(flag()),
      move: optional(flag()),
      copy: optional(flag()),
      chmod: optional(flag()),
      tag: optional(flag()),
      symlink: optional(flag()),
      link: optional(flag()),
      touch: optional(flag()),
    }),
    body: [anyOf(...Object.values(operationBodies)), bytes],
    answers: { 200: anyOf(ChangeReceipt, ImportReceipt) },
  },
  'DELETE /v1/workspaces/:workspace/files': {
    summary: 'Remove a file, an empty directory or, with ?recursive, a tree',
    params: workspaceParams,
    query: object({ ...pointQuery.fields, recursive: optional(flag()) }),
    answers: { 200: ChangeReceipt },
  },
  'POST /v1/workspaces/:workspace/batch': {
    summary: 'Do several operations, all or none',
    params: workspaceParams,
    query: pointQuery,
    body: object({
      operations: list(BatchOperation, { minItems: 1, maxItems: batchOperationsMax }),
    }),
    answers: { 200: ChangeReceipt },
  },
})

const uploadParams = object({
  ...workspaceParams.fields,
  upload: text({ maxLength: 64, examples: ['up_2f1e'] }),
})

export const uploadRoutes = routes({
  'POST /v1/workspaces/:workspace/uploads': {
    summary: 'Start an upload in blocks',
    params: workspaceParams,
    query: pointQuery,
    answers: { 201: Upload },
  },
  'GET /v1/workspaces/:workspace/uploads/:upload': {
    summary: 'Which blocks have arrived',
    params: uploadParams,
    query: pointQuery,
    answers: { 200: Upload },
  },
  'PUT /v1/workspaces/:workspace/uploads/:upload/blocks/:number': {
    summary: 'Send one block; with ?path, of what will replace the file there',
    params: object({ ...uploadParams.fields, number: integer({ maximum: blocksMax - 1 }) }),
    query: object({ ...pointQuery.fields, ...pathQuery }),
    body: bytes,
    answers: { 204: null },
  },
  'POST /v1/workspaces/:workspace/uploads/:upload/complete': {
    summary: 'Make a file of the blocks',
    params: uploadParams,
    query: pointQuery,
    body: uploadBody,
    answers: { 200: ChangeReceipt },
  },
  'DELETE /v1/workspaces/:workspace/uploads/:upload': {
    summary: 'Delete an upload',
    params: uploadParams,
    query: pointQuery,
    answers: { 204: null },
  },
})

export const logRoutes = routes({
  'GET /v1/workspaces/:workspace/log': {
    summary: 'Who changed what, and when',
    params: workspaceParams,
    query: object({
      ...pointQuery.fields,
      order: oneOf(['oldest', 'newest'], { default: 'oldest' }),
      after: optional(seq()),
      before: optional(seq()),
      cursor: optional(text({ maxLength: 64 })),
      limit: limit(),
      ...pathQuery,
      actor: optional(text({ maxLength: 256 })),
      since: optional(timeQuery()),
      until: optional(timeQuery()),
      paths: optional(
        oneOf(['now', 'then'], {
          description:
            'with a path. now: of what is there now. then: also of what was there, and what came in by commits; reads the whole log',
        }),
      ),
    }),
    answers: { 200: page(LogEntry) },
  },
  'GET /v1/workspaces/:workspace/blame': {
    summary: 'Who changed each line of a file last',
    params: workspaceParams,
    query: object({ ...pointQuery.fields, ...pathQuery }),
    answers: { 200: Blame },
  },
  'POST /v1/workspaces/:workspace/undo': {
    summary: 'Take back what a tool call or a key changed',
    params: workspaceParams,
    query: pointQuery,
    body: object({
      toolCall: optional(text({ minLength: 1, maxLength: 256, examples: ['call-7'] })),
      actor: optional(text({ minLength: 1, maxLength: 256 })),
      path: optional(text({ examples: ['/repo/src'] })),
      since: optional(timeQuery()),
      dryRun: optional(boolean()),
    }),
    answers: { 200: UndoReceipt },
  },
  'GET /v1/workspaces/:workspace/events': {
    summary: 'Follow changes as they happen (server-sent events)',
    params: workspaceParams,
    query: object({
      ...pointQuery.fields,
      ...pathQuery,
      after: optional(seq()),
      radar: optional(flag()),
    }),
    answers: { 200: media('text/event-stream', anyOf(ChangeEvent, RadarEvent)) },
  },
})
