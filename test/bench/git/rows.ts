import type { Row } from '../table.ts'
import type { Timed } from './timed.ts'

export const columns: readonly string[] = ['time', 'CPU', 'beside', 'its CPU', 'ratio', 'of CPU']

/** `times`: at most so many times what stands beside it. */
export function ratioRow(work: string, timed: Timed, beside: Timed, times?: number): Row {
  const ratio = timed.seconds / beside.seconds
  const ratios = [ratio, timed.cpuSeconds / beside.cpuSeconds]
  const figures = [...shown(timed), ...shown(beside), ...ratios.map((one) => `${one.toFixed(2)} ×`)]
  return times === undefined
    ? { work, figures }
    : { work, figures, aim: `${times} ×`, met: ratio <= times }
}

export function secondsRow(work: string, timed: Timed, max: number): Row {
  return { work, figures: shown(timed), aim: show(max), met: timed.seconds <= max }
}

/** At least so many a second. */
export function rateRow(work: string, timed: Timed, count: number, min: number): Row {
  const rate = Math.round(count / timed.seconds)
  return { work, figures: [...shown(timed), `${rate}/s`], aim: `${min}/s`, met: rate >= min }
}

function shown({ seconds, cpuSeconds }: Timed): string[] {
  return [show(seconds), show(cpuSeconds)]
}

function show(seconds: number): string {
  return `${seconds.toFixed(seconds < 1 ? 3 : 2)} s`
}
