import type { HostedSandbox } from '../sandboxes/hosted-sandbox.ts'

/** What E2B's daemon would be called; from 0.6.4 on the SDK uses everything that we have. */
export const envdVersion = '0.6.13'
/** No longer used, but the SDK requires one. */
const clientID = 'cairn'

const date = (ms: number): string => new Date(ms).toISOString()

/** The answer to those who may use it. */
export function showSandbox({ record }: HostedSandbox, domain: string): object {
  const { id, templateId, alias, accessToken, trafficToken } = record
  return {
    templateID: templateId,
    sandboxID: id,
    clientID,
    envdVersion,
    envdAccessToken: accessToken,
    domain,
    ...(trafficToken === undefined ? {} : { trafficAccessToken: trafficToken }),
    ...(alias === undefined ? {} : { alias }),
  }
}

export function showListed({ record, diskSizeMB }: HostedSandbox): object {
  const { id, templateId, alias, metadata, state, cpuCount, memoryMB, volumeMounts } = record
  return {
    templateID: templateId,
    sandboxID: id,
    clientID,
    ...(alias === undefined ? {} : { alias }),
    startedAt: date(record.startedAt),
    endAt: date(record.endAt),
    cpuCount,
    memoryMB,
    diskSizeMB,
    metadata,
    state,
    envdVersion,
    ...(volumeMounts.length === 0 ? {} : { volumeMounts }),
  }
}

export function showDetail(sandbox: HostedSandbox, domain: string): object {
  const { accessToken, network, allowInternetAccess, lifecycle } = sandbox.record
  return {
    ...showListed(sandbox),
    domain,
    envdAccessToken: accessToken,
    allowInternetAccess: allowInternetAccess ?? null,
    network,
    lifecycle: { onTimeout: lifecycle.onTimeout, autoResume: lifecycle.autoResume },
  }
}
