import { fail, type Finding, ok } from './report.ts'

/** Far below what breaks: S3 refuses requests from 15 minutes on, servers must agree to within an hour. */
const skewMsMax = 60_000

/**
 * Compares this machine's clock with another. `ask` gives the other one's time; it was read at some moment between
 * question and answer, so half of that time counts for neither.
 */
export async function checkClock(whose: string, ask: () => Promise<number>): Promise<Finding> {
  const before = Date.now()
  const theirs = await ask()
  const after = Date.now()
  const skewMs = theirs - (before + after) / 2
  const size = Math.abs(skewMs)
  const words =
    size < 2000
      ? `${whose} and this machine agree`
      : `${whose} is ${(size / 1000).toFixed(0)} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine`
  return size <= skewMsMax
    ? ok('clock', words)
    : fail('clock', words, 'Set both clocks by NTP: timedatectl set-ntp true')
}
