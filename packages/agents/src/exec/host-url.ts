import type { Sandbox } from '@cairn/sandbox'

/** Where a port of the machine is reached from outside. */
export function hostUrl(sandbox: Sandbox, port: number): string {
  const { getHostUrl } = sandbox as { getHostUrl?: (port: number) => string }
  if (getHostUrl === undefined)
    throw new Error(
      `cannot reach port ${port} of the sandbox: a jail shows no ports. Make machines with E2BSandbox.`,
    )
  return getHostUrl.call(sandbox, port)
}
