import { accessOperations } from '@cairn/protocol'
import type { LayerInfo } from '@cairn/sdk'
import { z } from 'zod'
import { change, limit, path, place } from '../fields.ts'
import { absolute, openPlace } from '../open-place.ts'
import { count } from '../text/bounds.ts'
import { changesShown, describeChanges, shortenChange } from '../text/changes.ts'
import { ToolError } from '../tool-error.ts'
import { defineTool, type Tool } from '../tool.ts'

const { workspace } = place
const attempt = z.string().min(1).max(256).describe('Name or id of the attempt')

const info = z.object({
  id: z.string(),
  name: z.string().optional(),
  path: z.string(),
  state: z.string(),
  parent: z.string(),
  message: z.string(),
})

const describe = ({
  id,
  name,
  path,
  state,
  parent,
  message,
}: LayerInfo): z.output<typeof info> => ({
  id,
  ...(name === undefined ? {} : { name }),
  path,
  state,
  parent,
  message,
})

export const attemptCreate: Tool = defineTool({
  name: 'attempt_create',
  title: 'Begin an attempt',
  description:
    'Begins an attempt: a private copy of a directory that other clients see only after a commit. It costs nothing, ' +
    'whatever the size. Give its name as "layer" to the other tools to work in it.',
  needs: ['write'],
  effect: 'changes',
  input: z.object({
    name: z.string().min(1).max(128).optional(),
    path: path.default('/').describe('The directory; writes are limited to it'),
    parent: attempt.optional().describe('Attempt to stand on; main unless given'),
    message: z.string().max(4096).optional().describe('What is attempted'),
    workspace,
  }),
  output: info,
  async run({ name, parent, message, ...input }, site) {
    const { layers } = openPlace(site, input)
    const options = { name, parent, message, signal: site.signal }
    const made = describe(await layers.create(absolute(input.path), options))
    const called = made.name ?? made.id
    return {
      text: `Began the attempt ${called}. Give layer: "${called}" to work in it.`,
      data: made,
    }
  },
})

export const attemptList: Tool = defineTool({
  name: 'attempt_list',
  title: 'List attempts',
  description: 'Lists attempts with their states: open, conflicted, committed, abandoned.',
  needs: accessOperations,
  effect: 'reads',
  input: z.object({
    state: z.enum(['open', 'conflicted', 'committed', 'abandoned']).optional(),
    limit: limit(50, 500),
    workspace,
  }),
  output: z.object({ attempts: z.array(info), more: z.boolean() }),
  async run({ state, limit, ...where }, site) {
    const attempts: z.output<typeof info>[] = []
    let more = false
    const options = { state, pageSize: limit + 1, signal: site.signal }
    for await (const layer of openPlace(site, where).layers.list(options)) {
      more = attempts.length === limit
      if (more) break
      attempts.push(describe(layer))
    }
    const lines = attempts.map(({ id, name, state, path, message }) =>
      `${name ?? id}  ${state}  ${path}  ${message}`.trim(),
    )
    if (more) lines.push('[There are more. Give a state, or a higher limit.]')
    return { text: lines.join('\n') || 'No attempt.', data: { attempts, more } }
  },
})

const compared = z.object({
  attempt: z.string(),
  state: z.string(),
  changes: z.array(change),
  total: z.number(),
  conflicts: z.array(z.string()),
  overlaps: z.array(z.string()).describe('Paths that main or another attempt changed too'),
})

export const attemptCompare: Tool = defineTool({
  name: 'attempt_compare',
  title: 'Compare attempts',
  description:
    'Shows side by side what up to ten attempts changed, which conflicts a commit would meet, and which paths others ' +
    'changed too. For the text of the changes use diff, with the attempts as layer and "to".',
  needs: ['list'],
  effect: 'reads',
  input: z.object({ attempts: z.array(attempt).min(1).max(10), workspace }),
  output: z.object({ attempts: z.array(compared) }),
  async run({ attempts, ...where }, site) {
    const { layers } = openPlace(site, where)
    const shown = Math.floor(changesShown / attempts.length)
    const results: z.output<typeof compared>[] = []
    for (const name of attempts) {
      const status = await layers.status(name, { signal: site.signal })
      results.push({
        attempt: name,
        state: status.state,
        changes: status.changes.slice(0, shown).map(shortenChange),
        total: status.changes.length,
        conflicts: status.conflicts.slice(0, shown).map(({ path, kind }) => `${path} (${kind})`),
        overlaps: status.overlaps
          .slice(0, shown)
          .map((o) => `${o.path} (${o.name ?? o.with ?? ''})`),
      })
    }
    return { text: results.map(section).join('\n\n'), data: { attempts: results } }
  },
})

function section(one: z.output<typeof compared>): string {
  const lines = [`${one.attempt} (${one.state}): ${count(one.total, 'path')}`]
  if (one.changes.length > 0) lines.push(describeChanges(one.changes, one.total))
  for (const path of one.conflicts) lines.push(`conflict ${path}`)
  for (const path of one.overlaps) lines.push(`also changed elsewhere ${path}`)
  return lines.join('\n')
}

export const attemptCommit: Tool = defineTool({
  name: 'attempt_commit',
  title: 'Commit an attempt',
  description:
    'Applies everything an attempt changed to its parent (usually main), all or nothing. On a conflict nothing changes and ' +
    'the paths are named. With dry_run it only shows what would change. The attempt is closed afterwards.',
  needs: ['commit'],
  effect: 'removes',
  input: z.object({
    attempt,
    message: z.string().max(4096).optional(),
    merge: z.boolean().default(true).describe('Merge files that both sides edited line by line'),
    dry_run: z.boolean().default(false),
    workspace,
  }),
  output: z.object({
    attempt: z.string(),
    target: z.string(),
    seq: z.number().optional(),
    changes: z.array(change),
    total: z.number(),
    dry_run: z.boolean(),
  }),
  async run({ attempt, message, merge, dry_run, ...where }, site) {
    requireNotMain(attempt, 'commit')
    const { layers } = openPlace(site, where)
    const options = { message, merge, dryRun: dry_run, signal: site.signal }
    const { paths, target, seq } = await layers.commit(attempt, options)
    const changes = paths.slice(0, changesShown).map(shortenChange)
    const said = `${dry_run ? 'Would commit' : 'Committed'} ${count(paths.length, 'path')} of ${attempt} to ${target}.`
    return {
      text: `${said}\n${describeChanges(changes, paths.length)}`.trim(),
      data: {
        attempt,
        target,
        ...(seq === undefined ? {} : { seq }),
        changes,
        total: paths.length,
        dry_run,
      },
    }
  },
})

export const attemptDiscard: Tool = defineTool({
  name: 'attempt_discard',
  title: 'Give up an attempt',
  description:
    'Gives up an attempt. main is not touched; your user can reopen the attempt for some days.',
  needs: ['write'],
  effect: 'removes',
  input: z.object({ attempt, workspace }),
  output: info,
  async run({ attempt, ...where }, site) {
    requireNotMain(attempt, 'discard')
    const { layers } = openPlace(site, where)
    const layer = describe(await layers.abandon(attempt, { signal: site.signal }))
    return { text: `Gave up the attempt ${attempt}.`, data: layer }
  },
})

function requireNotMain(attempt: string, verb: string): void {
  if (attempt === 'main')
    throw new ToolError(`${verb} main: it is not an attempt`, 'See the names with attempt_list.')
}
