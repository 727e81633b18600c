import { coreSubjects } from './core/subject.ts'
import { runPosixQuestions } from './suite.ts'

runPosixQuestions('core, never folded', coreSubjects({}), { root: true })
runPosixQuestions('core, folded after every change', coreSubjects({ foldEvery: 1 }), { root: true })
runPosixQuestions(
  'core, rebuilt from fold and log before every call',
  coreSubjects({ foldEvery: 5, forgetful: true }),
  { root: true },
)
