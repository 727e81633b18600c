import type { ByteString, GrepEvent, GrepText, Name, SearchAnswer } from '@cairn/protocol'
import { spellPath } from '../../files/spelling.ts'
import { Grep, type GrepBudget, type Truncated } from '../grep.ts'
import type { FileFilter } from '../ignore/file-filter.ts'
import type { WorkspaceIndex } from '../index/workspace-index.ts'
import { type Narrowing, narrowingOf } from '../narrowed-files.ts'
import type { SearchSpec } from '../scan-messages.ts'
import { scanPool } from '../scan-pool.ts'
import { placed, searchedFiles } from '../searched-files.ts'
import { findTop, type SearchRequest, type SearchTarget } from '../search-target.ts'
import { type TreeFile, TreeFiles } from '../tree-files.ts'
import { bestPassage, linesAround } from './passage.ts'
import { type Counted, Ranker, type Scored } from './rank.ts'
import { patternOf, type Stem, StemReader } from './words.ts'

export interface AskedSearch {
  readonly stems: readonly Stem[]
  readonly path: ByteString
  readonly filter: FileFilter
  readonly limit: number
  readonly timeMs: number
}

interface Place {
  readonly request: SearchRequest
  readonly searched: SearchTarget
  readonly index: WorkspaceIndex | undefined
}

interface CountedFile extends Counted {
  readonly names: readonly Name[]
}

/** Their counts stay in memory until all are there. */
const filesMax = 200_000
const bytesMax = 16 * 2 ** 30
/** In one file that is shown. */
const matchesShownMax = 1000

/**
 * Two searches: the first counts the words of the question in each file that may have one, the second shows the best of
 * these files. Both are of the same tree.
 */
export async function rankedSearch(place: Place, asked: AskedSearch): Promise<SearchAnswer> {
  const { stems, limit } = asked
  const beganMs = performance.now()
  const ranker = new Ranker<CountedFile>(stems.length)
  const truncated = await countWords(place, asked, ranker)
  const best = await ranker.best(limit, place.searched.nodes.pacer)
  const weights = ranker.weights()
  const left = Math.max(1000, asked.timeMs - (performance.now() - beganMs))
  const events = await readBest(place, { ...asked, timeMs: left }, best)
  const reader = new StemReader(stems)
  const results = best.map(({ file, score }) => {
    const passage = bestPassage(events.get(file.path) ?? [], reader, weights)
    return {
      ...spellPath('path', file.names),
      score: Math.round(score * 1e4) / 1e4,
      line: passage?.line ?? 1,
      passage: passage?.text ?? '',
    }
  })
  return {
    words: stems,
    results,
    files: ranker.count,
    truncated: truncated === 'lines' ? 'files' : truncated,
  }
}

async function countWords(
  { request, searched, index }: Place,
  asked: AskedSearch,
  ranker: Ranker<CountedFile>,
): Promise<Truncated | null> {
  const spec = specOf(asked.stems, { wants: 'words', before: 0, after: 0, maxCount: Infinity })
  const budget = budgetOf(asked.timeMs, filesMax)
  const search = await scanPool.open(spec)
  let truncated: Truncated | null = null
  try {
    const narrowing: Narrowing | undefined = index && narrowingOf(index, search.needs, spec)
    const grepAsked = {
      spec,
      budget,
      filter: asked.filter,
      onlyChanged: false,
      attempts: undefined,
      after: undefined,
    }
    const found = await searchedFiles(request, searched, asked.path, grepAsked, narrowing)
    const grep = new Grep(searched, search, budget, narrowing?.skipped)
    for await (const text of grep.run(found, request.asker.gone))
      for (const event of linesOf<WordsEvent | Summary>(text))
        if (event.type === 'summary') truncated = event.data.truncated
        else ranker.add(counted(event.data))
  } finally {
    search.close()
  }
  return truncated
}

/** What a search for words tells of a file. */
interface WordsEvent {
  readonly type: 'words'
  readonly data: {
    readonly path: GrepText
    readonly bytes: number
    readonly counts: readonly number[]
  }
}
type Summary = { readonly type: 'summary'; readonly data: { readonly truncated: Truncated | null } }

function counted({ path, bytes, counts }: WordsEvent['data']): CountedFile {
  const whole = 'text' in path ? Buffer.from(path.text) : Buffer.from(path.bytes, 'base64')
  const text = whole.toString('latin1')
  return { path: text, names: text.split('/').slice(1) as Name[], bytes, counts }
}

/** The lines with a word of the question, and those around, by path. */
async function readBest(
  { request, searched }: Place,
  { stems, path, filter, timeMs }: AskedSearch,
  best: readonly Scored<CountedFile>[],
): Promise<ReadonlyMap<string, readonly GrepEvent[]>> {
  const spec = specOf(stems, {
    wants: 'lines',
    before: linesAround,
    after: linesAround,
    maxCount: matchesShownMax,
  })
  const budget = budgetOf(timeMs, matchesShownMax * Math.max(1, best.length))
  const top = await findTop(searched, path)
  const isFile = top.inode.kind === 'file'
  const trees = new TreeFiles(searched, filter)
  const chosen = async function* (): AsyncGenerator<TreeFile> {
    if (isFile) return yield top
    for (const { file } of best) {
      const found = await trees.find(top, file.names)
      if (found) yield found
    }
  }
  const search = await scanPool.open(spec)
  const events = new Map<string, GrepEvent[]>()
  try {
    const files = placed(searched, { spec, after: undefined }, chosen(), isFile)
    for await (const text of new Grep(searched, search, budget).run(files, request.asker.gone))
      for (const event of linesOf<GrepEvent>(text)) {
        if (event.type !== 'match' && event.type !== 'context') continue
        const { path: key } = counted({ ...event.data, bytes: 0, counts: [] })
        const known = events.get(key)
        if (known) known.push(event)
        else events.set(key, [event])
      }
  } finally {
    search.close()
  }
  return events
}

function* linesOf<Event>(text: string): Generator<Event> {
  for (const line of text.split('\n')) if (line !== '') yield JSON.parse(line) as Event
}

function specOf(
  stems: readonly Stem[],
  wanted: Pick<SearchSpec, 'wants' | 'before' | 'after' | 'maxCount'>,
): SearchSpec {
  const options = { isFixed: false, ignoreCase: true, isWord: false, isMultiline: false }
  return {
    pattern: patternOf(stems),
    options,
    words: stems,
    isInverted: false,
    isText: false,
    ...wanted,
  }
}

function budgetOf(timeMs: number, lines: number): GrepBudget {
  return { timeMs, lines, bytes: bytesMax, isResumable: false }
}
