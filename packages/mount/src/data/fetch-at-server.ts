import type { Ino } from '@cairn/protocol'
import { decodeContentAnswer } from '../session/answers.ts'
import type { SessionQuestion } from '../session/questions.ts'

/** Asks the server for a range of a file. */
export function fetchAtServer(
  ask: (question: SessionQuestion) => Promise<Uint8Array>,
): (ino: Ino, offset: number, length: number) => Promise<Uint8Array> {
  return async (ino, offset, length) =>
    decodeContentAnswer(await ask({ type: 'content', ino, offset, length })).bytes
}
