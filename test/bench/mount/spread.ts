import { spawnSync } from 'node:child_process'

/**
 * Lets directories made in this one lie far apart on the disk. Ext4 puts a directory near its parent and does not
 * take an inode that was free for less than a minute: where many files were just deleted, as in /tmp, making one can
 * cost ten times as much, and the yardstick would be bent. Other file systems do not know the attribute.
 */
export function spreadChildren(directory: string): void {
  spawnSync('chattr', ['+T', directory], { stdio: 'ignore' })
}
