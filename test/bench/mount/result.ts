import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { printTable, type Row } from '../table.ts'

type Unit = 's' | '/s' | 'MB/s' | 'ms' | 'MB' | '%'

/** What a figure has to be: the ratio where there is a yardstick, else the figure itself. */
export type Aim = { readonly atMost: number } | { readonly atLeast: number }

export interface Result {
  /** What CAIRN_BENCH_ONLY calls it. */
  readonly name: string
  readonly work: string
  readonly unit: Unit
  readonly measured?: number
  readonly yardstick?: number
  /** What it took, after the work, until everything was at the server. */
  readonly drainSeconds?: number
  readonly aim?: Aim
  /** Why it was not measured. */
  readonly skipped?: string
}

const only = process.env['CAIRN_BENCH_ONLY']?.split(',').map((name) => name.trim())

/** Whether one of these is asked for. */
export function wants(...names: readonly string[]): boolean {
  return only === undefined || names.some((name) => only.includes(name))
}

/** Names that nothing has, so that a typing error does not look like a quick run. */
export function unknownNames(known: readonly string[]): readonly string[] {
  return (only ?? []).filter((name) => !known.includes(name))
}

export function printResults(title: string, results: readonly Result[]): void {
  printTable(title, ['measured', 'yardstick', 'ratio', 'drain'], results.map(toRow))
}

/** Returns the path of the file, which is not committed. */
export function writeResults(loadBefore: readonly number[], results: readonly Result[]): string {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const directory = join(root, 'bench', 'results')
  mkdirSync(directory, { recursive: true })
  const date = new Date().toISOString()
  const path = join(directory, `mount-${date.slice(0, 19).replaceAll(':', '')}.json`)
  const machine = { cpus: cpus().length, model: cpus()[0]?.model, kernel: release() }
  const load = { before: loadBefore[0], after: loadavg()[0] }
  const rows = results.map((result) => ({ ...result, ratio: ratioOf(result), met: isMet(result) }))
  const content = { date, node: process.version, machine, load, results: rows }
  writeFileSync(path, `${JSON.stringify(content, undefined, 2)}\n`)
  return relative(process.cwd(), path)
}

function ratioOf({ measured, yardstick }: Result): number | undefined {
  return measured === undefined || yardstick === undefined ? undefined : measured / yardstick
}

function isMet(result: Result): boolean | undefined {
  const { aim, measured } = result
  const figure = ratioOf(result) ?? measured
  if (aim === undefined || figure === undefined) return undefined
  return 'atMost' in aim ? figure <= aim.atMost : figure >= aim.atLeast
}

function toRow(result: Result): Row {
  const { work, unit, measured, yardstick, drainSeconds, aim, skipped } = result
  if (skipped !== undefined) return { work: `${work}: skipped, ${skipped}`, figures: [] }
  const met = isMet(result)
  return {
    work,
    figures: [
      format(measured, unit),
      format(yardstick, unit),
      ratioOf(result)?.toFixed(2) ?? '',
      format(drainSeconds, 's'),
    ],
    ...(aim && { aim: formatAim(aim, yardstick === undefined ? unit : undefined) }),
    ...(met === undefined ? {} : { met }),
  }
}

function formatAim(aim: Aim, unit: Unit | undefined): string {
  const [sign, figure] = 'atMost' in aim ? ['≤', aim.atMost] : ['≥', aim.atLeast]
  return `${sign} ${figure}${unit === undefined ? '' : ` ${unit}`}`
}

function format(figure: number | undefined, unit: Unit): string {
  if (figure === undefined) return ''
  const digits = unit === 's' ? 3 : unit === '/s' || unit === 'MB/s' ? 0 : 1
  return unit === '/s' ? `${figure.toFixed(digits)}/s` : `${figure.toFixed(digits)} ${unit}`
}
