import type { ErrorRow } from './error-row.ts'

/** Failures that the SDK or the command line reports itself. */
export const clientErrors = {
  unreachable: {
    errno: 'EIO',
    exitCode: 12,
    retry: 'same-request',
    hint: 'Check the address, and that the server is running: cairn status. Start one on this machine with: cairn up.',
  },
  timed_out: {
    errno: 'EIO',
    exitCode: 12,
    retry: 'same-request',
    hint: 'Try again, or allow more time.',
  },
  bad_answer: {
    errno: 'EPROTO',
    exitCode: 10,
    retry: 'never',
    hint: 'Check the address: another program, or a proxy in between, answered in place of a Cairn server.',
  },
  file_changed: {
    errno: 'ESTALE',
    exitCode: 13,
    retry: 'after-refresh',
    hint: 'Another client changed the file meanwhile. Read it again from the start.',
  },
  usage: {
    errno: 'EINVAL',
    exitCode: 2,
    retry: 'never',
    hint: 'Add --help to the command to see what it takes.',
  },
  not_configured: {
    errno: 'EACCES',
    exitCode: 3,
    retry: 'never',
    hint: 'Save a server and a key with: cairn ctx add.',
  },
  serve_failed: {
    errno: 'EIO',
    exitCode: 1,
    retry: 'never',
    hint: 'See what the server wrote before it ended.',
  },
  not_mounted: {
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'List your mounts with: cairn mount ls.',
  },
  mount_failed: {
    errno: 'EIO',
    exitCode: 1,
    retry: 'never',
    hint: 'Check this machine with: cairn doctor.',
  },
  mount_unhealthy: {
    errno: 'EIO',
    exitCode: 1,
    retry: 'never',
    hint: 'See its state with: cairn mount status DIRECTORY.',
  },
  umount_failed: {
    errno: 'EBUSY',
    exitCode: 1,
    retry: 'never',
    hint: 'End the programs that use the mount, then try again.',
  },
  not_drained: {
    errno: 'EAGAIN',
    exitCode: 1,
    retry: 'same-request',
    hint: 'Nothing is lost. See how far it is with: cairn mount status DIRECTORY.',
  },
  check_failed: {
    errno: 'EIO',
    exitCode: 1,
    retry: 'never',
    hint: 'Run the command that is printed beside each failed check.',
  },
  local_file: {
    errno: 'EIO',
    exitCode: 1,
    retry: 'never',
    hint: 'Check the path on this machine.',
  },
  sandbox_failed: {
    errno: 'EIO',
    exitCode: 1,
    retry: 'never',
    hint: 'See the sandboxes with: cairn sandbox ls.',
  },
  damaged_store: {
    errno: 'EIO',
    exitCode: 11,
    retry: 'never',
    hint: 'Keep the store as it is, and restore a backup beside it.',
  },
  incomplete_copy: {
    errno: 'EIO',
    exitCode: 1,
    retry: 'never',
    hint: 'Run the same command again to copy the rest.',
  },
} as const
clientErrors satisfies Record<string, ErrorRow>
