export type {
  AccessOperation,
  BatchOperation,
  Blame,
  BlameOrigin,
  BlamePart,
  ChangeEvent,
  ChangeReceipt,
  CheckpointInfo,
  CollectReport,
  ServerStatus,
  CommitReceipt,
  ConflictSideName,
  DeletedWorkspace,
  ErrorCode,
  ErrorDetails,
  FileEntry,
  FileKind,
  FileStat,
  GrepEvent,
  GrepLines,
  GrepStats,
  GrepSummary,
  GrepText,
  HashedEntry,
  ImportReceipt,
  ImportedInodes,
  IssuedKey,
  IssuedToken,
  IssuedVaultGrant,
  JournalEntry,
  JournalHead,
  JournalInfo,
  JournalReceipt,
  JournalVerdict,
  JournalWitness,
  KeyInfo,
  LayerChange,
  LayerConflict,
  LayerConflictSide,
  LayerDecision,
  LayerInfo,
  LayerOverlap,
  LayerState,
  LayerStatus,
  LogEntry,
  LogOperation,
  NewJournalEntry,
  Page,
  PickReceipt,
  Quota,
  RadarEvent,
  RefusedMerge,
  ResolveReceipt,
  RetryClass,
  RootReceipt,
  SearchAnswer,
  SearchResult,
  TokenInfo,
  UndoReceipt,
  TokenRule,
  RotationReport,
  SecretInfo,
  SecretReceipt,
  SecretVersion,
  SqlAnswer,
  SqlCell,
  Used,
  VaultAuditEntry,
  VaultGrant,
  VaultOutcome,
  VaultPermission,
  VaultScope,
  WorkspaceDeletion,
  WorkspaceInfo,
} from '@cairn/protocol'
export { Cairn, type CairnOptions, type CollectOptions } from './cairn.ts'
export type { RetryClock } from './client/clock.ts'
export type { RequestOptions } from './client/deadline.ts'
export { forEachParallel } from './client/parallel.ts'
export { CairnError, isCairnError } from '@cairn/protocol'
export { type FilePath, exactPathOf, spelled } from './client/path.ts'
export type { FileContent } from './files/content.ts'
export type {
  Files,
  ImportOptions,
  MkdirOptions,
  MoveOptions,
  ParentsOptions,
  WriteOptions,
} from './files/files.ts'
export type { PageOptions } from './files/list.ts'
export type { ByteRange, ReadOptions } from './files/read.ts'
export type { ListPageOptions, ReadableFiles, StatOptions } from './files/readable-files.ts'
export type { UploadOptions, UploadProgress, WriteConditions } from './files/upload.ts'
export type { LayerEvent, WatchOptions } from './files/watch.ts'
export { compileGlob, type GlobOptions } from './glob/compile-glob.ts'
export {
  type FindEntriesOptions,
  type FollowOptions,
  type Journals,
  type NewJournalOptions,
  type ReadEntriesOptions,
  type SealOptions,
  verifyJournal,
} from './journal/journals.ts'
export type { Keys, RotateKeyOptions } from './keys/keys.ts'
export type { Layers } from './layers/layers.ts'
export type {
  ChangeOptions,
  CheckpointOptions,
  CommitOptions,
  CreateLayerOptions,
  DiffOptions,
  ForkLayerOptions,
  LayerSettings,
  ListLayersOptions,
  MergeOptions,
  PickOptions,
  ResolveChoice,
  RollbackOptions,
  UpdateLayerOptions,
} from './layers/options.ts'
export type { FindOptions } from './search/find.ts'
export type { SearchOptions } from './search/search.ts'
export type { GrepOptions } from './search/grep.ts'
export { narrowToken, type NarrowOptions } from './tokens/narrow-token.ts'
export type { IssueOptions, RefreshOptions, Tokens } from './tokens/tokens.ts'
export type {
  AuditOptions,
  FieldValue,
  GrantOptions,
  ReadSecretOptions,
  Secret,
  Vault,
  WriteSecretOptions,
} from './vault/vault.ts'
export type {
  LogOptions,
  SqlOptions,
  UndoOptions,
  Workspace,
  WorkspaceOptions,
} from './workspace.ts'
export type {
  ForkWorkspaceOptions,
  QuotaOptions,
  RestoreOptions,
  Workspaces,
} from './workspaces.ts'
