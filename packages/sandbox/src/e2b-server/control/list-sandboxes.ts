import { ApiError } from '../api-error.ts'
import type { HostedSandbox } from '../sandboxes/hosted-sandbox.ts'
import type { Catalog } from '../templates/catalog.ts'
import { type RowPage, pageOf } from './pages.ts'

/** Those that the query asks for, newest first unless it says otherwise. */
export function listSandboxes(
  all: readonly HostedSandbox[],
  query: URLSearchParams,
  catalog: Catalog,
): RowPage<HostedSandbox> {
  const wanted = all.filter(filterOf(query, catalog))
  const direction = query.get('order') === 'asc' ? 1 : -1
  const sorted = wanted.toSorted((a, b) => direction * (keyOf(a) < keyOf(b) ? -1 : 1))
  return pageOf(sorted, keyOf, query)
}

/** By time, and by id where that is the same. */
function keyOf({ record: { startedAt, id } }: HostedSandbox): string {
  return `${String(startedAt).padStart(16, '0')}:${id}`
}

function filterOf(query: URLSearchParams, catalog: Catalog): (sandbox: HostedSandbox) => boolean {
  const metadata = parseMetadata(query.get('metadata'))
  const states = query.getAll('state').flatMap((text) => text.split(','))
  const after = parseDate(query.get('startedAfter'))
  const template = query.get('template')
  const templateId = template === null ? undefined : (catalog.find(template)?.id ?? '')
  return ({ record }) =>
    [...metadata].every(([key, value]) => record.metadata[key] === value) &&
    (states.length === 0 || states.includes(record.state)) &&
    (after === undefined || record.startedAt >= after) &&
    (templateId === undefined || record.templateId === templateId)
}

/** Encoded three times: the query, a query in it, and each name and value in that. */
function parseMetadata(text: string | null): Map<string, string> {
  const pairs = [...new URLSearchParams(text ?? '')]
  try {
    return new Map(
      pairs.map(([key, value]) => [decodeURIComponent(key), decodeURIComponent(value)]),
    )
  } catch {
    throw new ApiError(400, 'the metadata filter is not encoded as it should be')
  }
}

function parseDate(text: string | null): number | undefined {
  if (text === null) return undefined
  const date = Date.parse(text)
  if (Number.isNaN(date)) throw new ApiError(400, `startedAfter: '${text}' is not a date`)
  return date
}
