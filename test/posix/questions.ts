import type { Question } from './question.ts'
import { appendQuestions } from './questions/append.ts'
import { chmodQuestions } from './questions/chmod.ts'
import { chownQuestions } from './questions/chown.ts'
import { copyRangeQuestions } from './questions/copy-range.ts'
import { createQuestions } from './questions/create.ts'
import { fallocateQuestions } from './questions/fallocate.ts'
import { linkQuestions } from './questions/link.ts'
import { mkdirQuestions } from './questions/mkdir.ts'
import { mknodQuestions } from './questions/mknod.ts'
import { namesQuestions } from './questions/names.ts'
import { openQuestions } from './questions/open.ts'
import { pathQuestions } from './questions/path.ts'
import { permissionQuestions } from './questions/permission.ts'
import { precedenceQuestions } from './questions/precedence.ts'
import { readQuestions } from './questions/read.ts'
import { readdirQuestions } from './questions/readdir.ts'
import { renameQuestions } from './questions/rename.ts'
import { renameFlagsQuestions } from './questions/rename-flags.ts'
import { rmdirQuestions } from './questions/rmdir.ts'
import { seekQuestions } from './questions/seek.ts'
import { setGroupIdQuestions } from './questions/set-group-id.ts'
import { setIdQuestions } from './questions/set-id.ts'
import { sparseQuestions } from './questions/sparse.ts'
import { statfsQuestions } from './questions/statfs.ts'
import { stickyQuestions } from './questions/sticky.ts'
import { symlinkQuestions } from './questions/symlink.ts'
import { timesQuestions } from './questions/times.ts'
import { truncateQuestions } from './questions/truncate.ts'
import { unlinkQuestions } from './questions/unlink.ts'
import { unlinkedQuestions } from './questions/unlinked.ts'
import { writeQuestions } from './questions/write.ts'
import { xattrQuestions } from './questions/xattr.ts'

export const questions: readonly Question[] = [
  ...openQuestions,
  ...createQuestions,
  ...readQuestions,
  ...writeQuestions,
  ...appendQuestions,
  ...seekQuestions,
  ...truncateQuestions,
  ...sparseQuestions,
  ...fallocateQuestions,
  ...copyRangeQuestions,
  ...mkdirQuestions,
  ...rmdirQuestions,
  ...unlinkQuestions,
  ...unlinkedQuestions,
  ...linkQuestions,
  ...symlinkQuestions,
  ...renameQuestions,
  ...renameFlagsQuestions,
  ...mknodQuestions,
  ...readdirQuestions,
  ...namesQuestions,
  ...pathQuestions,
  ...timesQuestions,
  ...chmodQuestions,
  ...chownQuestions,
  ...setIdQuestions,
  ...setGroupIdQuestions,
  ...stickyQuestions,
  ...permissionQuestions,
  ...precedenceQuestions,
  ...xattrQuestions,
  ...statfsQuestions,
]
