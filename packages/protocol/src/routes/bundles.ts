import { object, optional } from '../schema/build.ts'
import { name, workspaceParams } from '../schema/common.ts'
import { media, routes } from '../schema/route.ts'
import { WorkspaceInfo } from './workspaces.ts'

const bundle = media('application/vnd.cairn.bundle')

export const bundleRoutes = routes({
  'GET /v1/workspaces/:workspace/bundle': {
    summary: 'A workspace with its history as one file',
    params: workspaceParams,
    answers: { 200: bundle },
  },
  'POST /v1/workspaces/:workspace/bundle': {
    summary: 'The same since an earlier bundle, whose head record and id are the body',
    params: workspaceParams,
    body: bundle,
    answers: { 200: bundle },
  },
  'POST /v1/bundles': {
    summary: 'Make the workspace of a bundle, and of those that go on from it in the same body',
    query: object({ name: optional(name('demo')) }),
    body: bundle,
    answers: { 201: WorkspaceInfo },
  },
})
