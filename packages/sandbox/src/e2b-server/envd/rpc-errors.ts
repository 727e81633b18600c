import { AgentError } from '../agent/entry.ts'
import { RpcError, type RpcCode } from '../connect/rpc-error.ts'
import { BadPathError, UnknownUserError } from './caller.ts'

/** What is not here is `internal`: a file that may not be read is not the same as one that is not there. */
const codeOfErrno: Readonly<Record<string, RpcCode>> = {
  ENOENT: 'not_found',
  ENOTDIR: 'invalid_argument',
  EINVAL: 'invalid_argument',
  EREMOTE: 'invalid_argument',
  ENAMETOOLONG: 'invalid_argument',
  ELOOP: 'failed_precondition',
  ENOSPC: 'resource_exhausted',
}

/** Runs a method of a service, and puts what goes wrong in the jail into the words of the service. */
export async function rpcErrors<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof AgentError)
      throw new RpcError(codeOfErrno[error.code] ?? 'internal', error.message)
    if (error instanceof UnknownUserError) throw new RpcError('unauthenticated', error.message)
    if (error instanceof BadPathError) throw new RpcError('invalid_argument', error.message)
    throw error
  }
}
