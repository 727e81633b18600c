import type { LayerRequest } from './layer-work.ts'
import { fileOf } from './layer-work.ts'
import { readTokens } from './shared-log.ts'

/** What is wrong with the files of main that requests wrote to. `texts` are these files, by name. */
export function judgeRequests(
  requests: readonly LayerRequest[],
  texts: ReadonlyMap<string, string>,
): readonly string[] {
  const faults = requests.flatMap(({ tag, type, outcome }) =>
    typeof outcome === 'object' ? [`request #${tag}, ${type}: ${outcome.bad}`] : [],
  )
  for (const layer of new Set(requests.map((request) => request.layer)))
    if (layer !== undefined) faults.push(...judgeLayer(layer, requests, texts.get(fileOf(layer))))
  return faults
}

function judgeLayer(
  layer: string,
  all: readonly LayerRequest[],
  text: string | undefined,
): readonly string[] {
  const own = all.filter((request) => request.layer === layer)
  const done = own.filter(({ outcome }) => outcome === 'done')
  const [commits, rollbacks] = ['commit', 'rollback'].map((type) =>
    done.filter((request) => request.type === type),
  ) as [LayerRequest[], LayerRequest[]]
  const tags = readTokens(text ?? '')
  if (!tags) return [`${fileOf(layer)} is damaged: ${text}`]
  const faults: string[] = []
  for (const append of own.filter(({ type }) => type === 'append')) {
    const count = tags.filter((tag) => tag === append.tag).length
    const fault = (what: string): unknown =>
      faults.push(`append #${append.tag} to layer ${layer} ${what}; main has ${count}`)
    if (count > 1) fault('was committed twice')
    if (count > 0 && append.outcome === 'refused') fault('was refused')
    if (count === 0 && mustBeThere(append, commits, rollbacks)) fault('was committed')
    if (count > 0 && !canBeThere(append, commits, rollbacks)) fault('was not committed')
  }
  return faults
}

/** It was done before a commit began, and no rollback came that may have taken it back first. */
function mustBeThere(
  append: LayerRequest,
  commits: readonly LayerRequest[],
  rollbacks: readonly LayerRequest[],
): boolean {
  if (append.outcome !== 'done') return false
  return commits.some(
    (commit) =>
      append.endMs < commit.startMs &&
      rollbacks.every(({ startMs, endMs }) => endMs < append.startMs || startMs > commit.endMs),
  )
}

/** Some commit ended after it began, and no rollback took it back before the first that did. */
function canBeThere(
  append: LayerRequest,
  commits: readonly LayerRequest[],
  rollbacks: readonly LayerRequest[],
): boolean {
  return commits.some(
    (commit) =>
      commit.endMs > append.startMs &&
      !rollbacks.some(({ startMs, endMs }) => startMs > append.endMs && endMs < commit.startMs),
  )
}
