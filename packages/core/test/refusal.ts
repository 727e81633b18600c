import { type ErrorCode, isCairnError } from '@cairn/protocol'

/** The code and subject that something fails with. Anything but a CairnError goes on to fail the test. */
export async function refusalOf(
  run: () => unknown,
): Promise<{ readonly code: ErrorCode; readonly subject: string | undefined } | undefined> {
  try {
    await run()
    return undefined
  } catch (error) {
    if (!isCairnError(error)) throw error
    return { code: error.code, subject: error.subject }
  }
}
