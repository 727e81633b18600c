import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { findHostGaps } from './host-gaps.ts'
import { hostSubjects } from './host.ts'
import { runPosixQuestions } from './suite.ts'

const directory = await mkdtemp(join(tmpdir(), 'cairn-posix-'))
await chmod(directory, 0o755)
afterAll(() => rm(directory, { recursive: true }))

const setup = hostSubjects(directory)

runPosixQuestions('host', setup, { gaps: await findHostGaps(directory, setup) })
