import { z } from 'zod'

/** The configuration of a harness's sandbox: `{ name, config }`, as it is stored. */

const networkModes = ['allow-all', 'deny-all', 'restricted'] as const
const permissionModes = ['ask', 'edit', 'bypass'] as const
const runtimes = ['bash', 'python', 'node'] as const
export type Runtime = (typeof runtimes)[number]

/** With its defaults. */
export interface ProviderConfig {
  readonly provider: 'e2b' | 'local'
  readonly network: {
    readonly mode: (typeof networkModes)[number]
    readonly allowDomains?: readonly string[] | undefined
    readonly allowCidrs?: readonly string[] | undefined
  }
  readonly permissionMode: (typeof permissionModes)[number]
  readonly persistent: boolean
  readonly lifecycle: { readonly idleTimeoutSeconds: number; readonly maxLifetimeSeconds: number }
  readonly onCreate?: readonly string[] | undefined
  readonly onResume?: readonly string[] | undefined
  /** Seconds. */
  readonly timeout: number
  readonly outputLimitBytes: number
  /** MiB; local only. */
  readonly memoryLimit?: number | undefined
  readonly runtimes: readonly Runtime[]
  readonly envVars: Readonly<Record<string, string>>
  readonly options: {
    readonly apiKey?: string | undefined
    readonly template?: string | undefined
    /** Without a slash at its end. */
    readonly workspaceRoot: string
    readonly reservationKey?: string | undefined
  }
}

/** As it is stored. What is left out has its default. */
export interface ProviderInput {
  readonly provider: ProviderConfig['provider']
  /** Default: deny-all. */
  readonly network?: Partial<ProviderConfig['network']> | undefined
  /** Which tools need approval: write, edit and bash (`ask`, the default), bash alone (`edit`), none (`bypass`). */
  readonly permissionMode?: ProviderConfig['permissionMode'] | undefined
  /** One machine that stays, instead of one for each call. */
  readonly persistent?: boolean | undefined
  /** Default: 900 s without a call until it is paused, 7 days until it is replaced. */
  readonly lifecycle?: Partial<ProviderConfig['lifecycle']> | undefined
  /** Commands that run once in each machine. */
  readonly onCreate?: readonly string[] | undefined
  /** Commands that run before each call. */
  readonly onResume?: readonly string[] | undefined
  /** Seconds, up to 600. Default: 30. */
  readonly timeout?: number | undefined
  /** Up to 262,144, of output and of errors each. Default: 65,536. */
  readonly outputLimitBytes?: number | undefined
  readonly memoryLimit?: number | undefined
  readonly runtimes?: readonly Runtime[] | undefined
  /** Advice that no provider here takes. */
  readonly size?: unknown
  readonly snapshot?: unknown
  /** For every command. */
  readonly envVars?: Readonly<Record<string, string>> | undefined
  readonly options?:
    | (Partial<ProviderConfig['options']> & {
        /** The same as `template`. */
        readonly templateId?: string | undefined
      })
    | undefined
}

const network = z
  .strictObject({
    mode: z.enum(networkModes).default('deny-all'),
    allowDomains: z.array(z.string().min(1)).optional(),
    allowCidrs: z.array(z.union([z.cidrv4(), z.ipv4()])).optional(),
  })
  .refine(
    ({ mode, allowDomains, allowCidrs }) =>
      mode === 'restricted' || (allowDomains === undefined && allowCidrs === undefined),
    'allowDomains and allowCidrs are for mode restricted. Set the mode, or leave them out',
  )

const lifecycle = z.strictObject({
  idleTimeoutSeconds: z.number().int().min(1).max(604_800).default(900),
  maxLifetimeSeconds: z.number().int().min(1).max(2_592_000).default(604_800),
})

const hook = z.array(z.string().min(1)).min(1)

const text = z.string().min(1)

const options = z
  .strictObject({
    apiKey: text.optional(),
    template: text.optional(),
    templateId: text.optional(),
    workspaceRoot: z.string().startsWith('/').default('/mnt/workspaces'),
    reservationKey: text.max(200).optional(),
  })
  .refine(
    ({ template, templateId }) => template === undefined || templateId === undefined,
    'template and templateId are two names of one option. Leave one of them out',
  )
  .transform(({ templateId, template = templateId, workspaceRoot, ...rest }) => ({
    ...rest,
    ...(template !== undefined && { template }),
    // `/` itself stays.
    workspaceRoot: workspaceRoot.replace(/(?<=.)\/+$/, ''),
  }))

export const providerConfig: z.ZodType<ProviderConfig> = z
  .strictObject({
    provider: z.enum(['e2b', 'local']),
    network: network.prefault({}),
    permissionMode: z.enum(permissionModes).default('ask'),
    persistent: z.boolean().default(false),
    lifecycle: lifecycle.optional(),
    onCreate: hook.optional(),
    onResume: hook.optional(),
    timeout: z.number().int().min(1).max(600).default(30),
    outputLimitBytes: z.number().int().min(1).max(262_144).default(65_536),
    memoryLimit: z.number().int().min(1).optional(),
    runtimes: z
      .array(z.enum(runtimes))
      .min(1)
      .default([...runtimes]),
    size: z.unknown().optional(),
    snapshot: z.unknown().optional(),
    envVars: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).default({}),
    options: options.prefault({}),
  })
  .superRefine((config, context) => {
    const refuse = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message })
    for (const field of ['lifecycle', 'onCreate', 'onResume'] as const)
      if (config[field] !== undefined && !config.persistent)
        refuse(field, 'is for a sandbox that stays. Set persistent to true, or leave it out')
  })
  .transform(({ lifecycle: given, ...config }) => ({
    ...config,
    lifecycle: given ?? lifecycle.parse({}),
  }))
