import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Seeds that failed once. Each is tried again in every run; keep the file when the fault is fixed. */
const folder = join(import.meta.dirname, 'seeds')
/** `CAIRN_RUNS=50 npx vitest run test/mount` for more. */
export const runs: number = Number(process.env['CAIRN_RUNS'] ?? 1)
/** The same in every ordinary run, so that red means changed; longer runs look for new cases each time. */
const firstSeed = Number(process.env['CAIRN_SEED'] ?? (runs > 1 ? Date.now() % 2 ** 31 : 1))

/** For what depends on the moment and on no seed: once, and as often as there are runs. */
export const everyRun: readonly number[] = Array.from({ length: runs }, (_, run) => run + 1)

interface KeptSeed {
  readonly story: string
  readonly seed: number
  readonly error: string
}

/** Those that failed once, and as many as there are runs. */
export function seedsOf(story: string): readonly number[] {
  const fresh = Array.from({ length: runs }, (_, run) => firstSeed + run)
  return [...new Set([...keptSeeds(story), ...fresh])]
}

/** Plays it; prints the seed, and keeps it if the story fails. */
export async function playSeed(
  story: string,
  seed: number,
  play: (seed: number) => Promise<void>,
): Promise<void> {
  console.log(`${story}: seed ${seed}`)
  try {
    await play(seed)
  } catch (error) {
    const kept: KeptSeed = { story, seed, error: String(error) }
    const name = `${story.replaceAll(' ', '-')}-${seed}.json`
    writeFileSync(join(folder, name), `${JSON.stringify(kept, undefined, 2)}\n`)
    throw error
  }
}

function keptSeeds(story: string): readonly number[] {
  mkdirSync(folder, { recursive: true })
  return readdirSync(folder)
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as KeptSeed)
    .filter((kept) => kept.story === story)
    .map(({ seed }) => seed)
}
