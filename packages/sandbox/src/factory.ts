import { E2BSandbox, type E2BSandboxOptions } from './e2b/e2b-sandbox.ts'
import { LocalSandbox, type LocalSandboxOptions } from './local/local-sandbox.ts'
import type { Sandbox } from './sandbox.ts'

/** What a sandbox is made from: its kind, and the options of that kind. */
export interface SandboxConfig {
  readonly kind: string
  readonly [option: string]: unknown
}

type Make = (config: SandboxConfig) => Sandbox

/** Any factory that takes kinds, such as that of the KODE SDK: its agents want an object of its own class. */
export interface KindRegister {
  register(kind: 'local' | 'e2b', make: (config: Record<string, unknown>) => Sandbox): void
}

/** Lets another factory make our sandboxes. They initialise themselves with the first command. */
export function registerSandboxes(factory: KindRegister): void {
  factory.register('local', (config) => new LocalSandbox(config as LocalSandboxOptions))
  factory.register('e2b', (config) => new E2BSandbox(config as E2BSandboxOptions))
}

/** Makes sandboxes by the name of their kind, also those that were stored: `{ ...sandbox }` is such a config. */
export class SandboxFactory {
  readonly #makes = new Map<string, Make>()

  constructor() {
    registerSandboxes(this)
  }

  /** A kind that is known already is replaced. */
  register(kind: string, make: Make): void {
    this.#makes.set(kind, make)
  }

  create(config: SandboxConfig): Sandbox {
    const make = this.#makes.get(config.kind)
    if (make === undefined)
      throw new Error(
        `Sandbox factory not registered: ${config.kind}. Registered are: ${[...this.#makes.keys()].join(', ')}.`,
      )
    return make(config)
  }

  /** Resolves when it can be used. */
  async createAsync(config: SandboxConfig): Promise<Sandbox> {
    const sandbox = this.create(config)
    // A registered kind may need no initialisation.
    await (sandbox as Partial<Sandbox>).init?.()
    return sandbox
  }
}
