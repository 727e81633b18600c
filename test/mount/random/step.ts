/** Numbers that come the same for the same seed (xorshift). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761 + 1) >>> 0 || 1
  }

  below(end: number): number {
    let x = this.#state
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    this.#state = x >>> 0
    return this.#state % end
  }

  one<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!
  }
}

/** Plain data, so that it can be printed and played again. */
export interface Step {
  readonly type: StepType
  readonly path: string
  readonly other: string
  readonly offset: number
  readonly length: number
  readonly fill: number
}

const common = ['write', 'write', 'append', 'read', 'mkdir', 'rename', 'unlink', 'patch'] as const
const rare = [
  'truncate',
  'rmdir',
  'link',
  'symlink',
  'readlink',
  'chmod',
  'utimes',
  'list',
  'stat',
  'exclusive',
  'exchange',
  'noreplace',
  'copy',
  'punch',
  'zero',
  'allocate',
  'xattr',
  'open',
  'readOpen',
  'writeOpen',
  'truncateOpen',
  'closeOpen',
] as const
export type StepType = (typeof common)[number] | (typeof rare)[number]

const directories = ['', 'd/', 'e/', 'd/in/']
const names = ['f', 'g', 'h', 'd', 'e', 'in']
/** Around pages, the server's blocks, and what is too large for a batch. */
const offsets = [0, 1, 100, 4095, 4096, 5000, 70_000, 131_072, 262_143, 262_144, 300_000]
const lengths = [0, 1, 7, 100, 4096, 4097, 20_000, 131_072, 270_000]

export function randomStep(random: Random): Step {
  const path = (): string => random.one(directories) + random.one(names)
  return {
    type: random.below(2) === 0 ? random.one(common) : random.one(rare),
    path: path(),
    other: path(),
    offset: random.one(offsets),
    length: random.one(lengths),
    fill: 1 + random.below(255),
  }
}

/** One that is chosen, not drawn. */
export function stepOf(type: StepType, path: string, other = ''): Step {
  return { type, path, other, offset: 0, length: 1, fill: 1 }
}
