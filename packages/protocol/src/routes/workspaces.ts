import { anyOf, list, named, object, type Of, optional, text } from '../schema/build.ts'
import {
  cursor,
  flag,
  limit,
  name,
  page,
  Quota,
  quotaEdit,
  time,
  Used,
  workspaceParams,
} from '../schema/common.ts'
import { routes } from '../schema/route.ts'

export type WorkspaceInfo = Of<typeof WorkspaceInfo>
export const WorkspaceInfo = named(
  'WorkspaceInfo',
  object({
    id: text({ examples: ['ws_1f0c'] }),
    name: name('demo'),
    /** ISO 8601, as all times in JSON that have no need of nanoseconds. */
    createdAt: time(),
    /** Holds for each of its trees, `main` and layers alike. Absent where nothing is limited. */
    quota: optional(Quota),
    /** By `main`; not in listings. */
    used: optional(Used),
  }),
)

/** Can be restored until `expiresAt`, with everything that it had. */
export type DeletedWorkspace = Of<typeof DeletedWorkspace>
export const DeletedWorkspace = named(
  'DeletedWorkspace',
  object({
    id: text({ examples: ['ws_1f0c'] }),
    /** The name it had. Another workspace may have it now. */
    name: name('demo'),
    createdAt: time(),
    deletedAt: time(),
    expiresAt: time(),
  }),
)

export type WorkspaceDeletion = Of<typeof WorkspaceDeletion>
export const WorkspaceDeletion = named(
  'WorkspaceDeletion',
  object({
    ...DeletedWorkspace.fields,
    /** Workspaces that were forked from it, or that it was forked from. They stay as they are. */
    forks: list(name('copy')),
  }),
)

export const workspaceRoutes = routes({
  'POST /v1/workspaces': {
    summary: 'Make a workspace',
    body: object({ name: name('demo') }),
    answers: { 201: WorkspaceInfo },
  },
  'GET /v1/workspaces': {
    summary: 'List workspaces, or those that were deleted and can be restored',
    query: object({ cursor: optional(cursor()), limit: limit(), deleted: optional(flag()) }),
    answers: { 200: anyOf(page(WorkspaceInfo), page(DeletedWorkspace)) },
  },
  'GET /v1/workspaces/:workspace': {
    summary: 'Look a workspace up by name or id',
    params: workspaceParams,
    answers: { 200: WorkspaceInfo },
  },
  'PATCH /v1/workspaces/:workspace': {
    summary: 'Rename a workspace, or limit how much it may hold',
    params: workspaceParams,
    body: object({ name: optional(name('demo')), ...quotaEdit }),
    answers: { 200: WorkspaceInfo },
  },
  'DELETE /v1/workspaces/:workspace': {
    summary: 'Delete a workspace; it can be restored for a week',
    params: workspaceParams,
    answers: { 200: WorkspaceDeletion },
  },
  'POST /v1/workspaces/:workspace/restore': {
    summary: 'Restore a deleted workspace, by id or by the name it had',
    params: workspaceParams,
    body: object({ name: optional(name('demo')) }),
    answers: { 200: WorkspaceInfo },
  },
})
