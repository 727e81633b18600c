/** The HTTP API as data, for servers and documents. Clients need the types alone, which index.ts has. */

export { ApiErrorBody } from './routes/errors.ts'
export { operationBodies, tagsMax } from './routes/file-shapes.ts'
export { fileRoutes, logRoutes, uploadRoutes } from './routes/files.ts'
export { searchRoutes } from './routes/search.ts'
export { findRoutes } from './routes/find.ts'
export { journalRoutes } from './routes/journals.ts'
export { keyRoutes } from './routes/keys.ts'
export { layerChangeRoutes, layerRoutes } from './routes/layers.ts'
export { serverRoutes } from './routes/server.ts'
export { sqlRoutes, sqlRowsMax } from './routes/sql.ts'
export { tokenRoutes, tokenTtlMsMax } from './routes/tokens.ts'
export { vaultFieldsMax, vaultRoutes } from './routes/vault.ts'
export { vaultGrantRoutes } from './routes/vault-grants.ts'
export { workspaceRoutes } from './routes/workspaces.ts'
export { bundleRoutes } from './routes/bundles.ts'
export { workspaceParams } from './schema/common.ts'
export type { Of, Schema } from './schema/build.ts'
export {
  type RouteAnswer,
  type AnswerOf,
  isMedia,
  media,
  type Media,
  type Route,
  type Routes,
} from './schema/route.ts'
