import {
  integer,
  list,
  named,
  nullable,
  object,
  type Of,
  oneField,
  optional,
  record,
  text,
} from '../schema/build.ts'
import { cursor, items, limit, name, page, time, workspaceParams } from '../schema/common.ts'
import { media, routes } from '../schema/route.ts'

export const vaultFieldsMax = 64
const secretName = name('github')
/** Names of files in a mounted vault, and part of paths. */
const fieldName = text({
  pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$',
  wants: '1 to 128 letters, digits, dots, underscores and hyphens, with no dot or hyphen first',
  examples: ['token'],
})
/** The number of a version, from 1. */
const version = integer({ examples: [3] })
const who = text({ examples: ['alice'] })

const secretParams = object({ ...workspaceParams.fields, secret: secretName })
const fieldParams = object({ ...secretParams.fields, field: fieldName })
const versionQuery = object({ version: optional(version) })

/** What a field holds: text or, where it is not UTF-8, its bytes. */
export type VaultValue = Of<typeof VaultValue>
export const VaultValue = named(
  'VaultValue',
  oneField({ text: text({ examples: ['hunter2'] }), base64: text() }),
)

const writeBody = object({
  fields: record(VaultValue, { propertyNames: fieldName, maxProperties: vaultFieldsMax }),
  ifVersion: optional(version),
})
const editBody = object({
  fields: record(nullable(VaultValue), { propertyNames: fieldName, maxProperties: vaultFieldsMax }),
  ifVersion: optional(version),
})

/** What may be known of a secret without reading it. */
export type SecretInfo = Of<typeof SecretInfo>
export const SecretInfo = named(
  'SecretInfo',
  object({
    name: secretName,
    /** The number of its newest version, from 1. */
    version,
    /** Those that may be read, in order. */
    fields: list(fieldName),
    createdAt: time(),
    updatedAt: time(),
    /** The id of the key, token or grant that wrote the newest version. */
    updatedBy: who,
  }),
)

export type SecretVersion = Of<typeof SecretVersion>
export const SecretVersion = named(
  'SecretVersion',
  object({ version, fields: list(fieldName), createdAt: time(), createdBy: who }),
)

export type SecretValues = Of<typeof SecretValues>
export const SecretValues = named(
  'SecretValues',
  object({
    name: secretName,
    version,
    fields: record(VaultValue, { examples: [{ token: { text: 'hunter2' } }] }),
  }),
)

/** What a change of a secret left. */
export type SecretReceipt = Of<typeof SecretReceipt>
export const SecretReceipt = named(
  'SecretReceipt',
  object({ name: secretName, version, fields: list(fieldName) }),
)

export const vaultRoutes = routes({
  'GET /v1/workspaces/:workspace/vault/secrets': {
    summary: 'List secrets by name, without their values',
    params: workspaceParams,
    query: object({ cursor: optional(cursor(128)), limit: limit() }),
    answers: { 200: page(SecretInfo) },
  },
  'GET /v1/workspaces/:workspace/vault/secrets/:secret': {
    summary: 'Read a secret: all fields that may be read',
    params: secretParams,
    query: versionQuery,
    answers: { 200: SecretValues },
  },
  'GET /v1/workspaces/:workspace/vault/secrets/:secret/fields/:field': {
    summary: 'Read one field of a secret: its bytes, as they are',
    params: fieldParams,
    query: versionQuery,
    answers: { 200: media('application/octet-stream') },
  },
  'GET /v1/workspaces/:workspace/vault/secrets/:secret/history': {
    summary: 'The versions of a secret, newest first',
    params: secretParams,
    answers: { 200: items(SecretVersion) },
  },
  'PUT /v1/workspaces/:workspace/vault/secrets/:secret': {
    summary: 'Replace a secret as a whole, or make it',
    params: secretParams,
    body: writeBody,
    answers: { 200: SecretReceipt },
  },
  'PATCH /v1/workspaces/:workspace/vault/secrets/:secret': {
    summary: 'Set some fields of a secret, delete those that are null, keep the others',
    params: secretParams,
    body: editBody,
    answers: { 200: SecretReceipt },
  },
  'DELETE /v1/workspaces/:workspace/vault/secrets/:secret': {
    summary: 'Delete a secret, with all its versions',
    params: secretParams,
    answers: { 204: null },
  },
})
