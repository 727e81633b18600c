export type { GrepEvent, GrepLines, GrepStats, GrepSummary, GrepText } from './api-search.ts'
export { fromBase64Url, toBase64Url } from './base64.ts'
export {
  type ByteString,
  compareBytes,
  concatBytes,
  equalBytes,
  fromByteString,
  fromHex,
  toByteString,
  toHex,
} from './bytes.ts'
export { canonicalJson, type Json } from './canonical-json.ts'
export { type Errno, errnoHints, errnoTable, FsError, isFsError } from './errno.ts'
export type { ErrorRow, RetryClass } from './error-row.ts'
export { type ErrorCode, errorTable } from './error-table.ts'
export { type ExitCode, exitTable } from './exit-codes.ts'
export {
  CairnError,
  type ErrorDetails,
  exitCodeOf,
  fromErrorBody,
  fromFsError,
  httpStatusOf,
  isCairnError,
  rowOf,
} from './errors.ts'
export { type FailureFields, fromFailure, toFailure } from './failure.ts'
export { type FileKind, fileKinds } from './file-kinds.ts'
export { FewAtOnce } from './few-at-once.ts'
export {
  type AccessOperation,
  accessOperations,
  allows,
  allowsAll,
  allowsSomewhere,
  type Caveat,
  type Grant,
  isInScope,
  isVisible,
  isWay,
  isWithin,
  makeRule,
  parsePrefix,
  parseRule,
  removesOwn,
  seesAll,
} from './grant.ts'
export {
  type ActorId,
  type BranchId,
  type CheckpointId,
  formatHash,
  type Hash,
  hashBytes,
  type Ino,
  type Name,
  parseHash,
  rootIno,
  type SessionId,
} from './ids.ts'
export { decodeInos, encodeInos } from './inos.ts'
export {
  checkJournal,
  JournalCheck,
  type JournalCrypto,
  journalLines,
  type JournalWitness,
  signedText,
} from './journal-check.ts'
export { journalLimits, sealType } from './journal-limits.ts'
export {
  type ConflictSideName,
  conflictSides,
  type LayerState,
  layerStates,
} from './layer-words.ts'
export { formatRescueOutcome, parseRescueOutcome, type RescueOutcome } from './rescue-outcome.ts'
export { formatPath, isName, nameBytesMax, parseName, parsePath, pathBytesMax } from './path.ts'
export { Reader } from './reader.ts'
export {
  decodeReply,
  decodeRequest,
  encodeReply,
  encodeRequest,
  messageBytesMax,
  type SessionReply,
  type SessionRequest,
  sessionTables,
  isKnownRequest,
  requestTypes,
  requestTypesHeader,
  sessionVersion,
} from './session-messages.ts'
export {
  decodeTrace,
  encodeTrace,
  joinTraces,
  type Trace,
  tracedBlockBytes,
  type TraceItem,
} from './traces.ts'
export type { ApiErrorBody } from './routes/errors.ts'
export type {
  BatchOperation,
  Blame,
  BlameOrigin,
  BlamePart,
  ChangeEvent,
  ChangeReceipt,
  FileEntry,
  FileStat,
  ImportReceipt,
  ImportedInodes,
  LogEntry,
  LogOperation,
  Spelled,
  Tags,
  Upload,
} from './routes/file-shapes.ts'
export type { SearchAnswer, SearchResult } from './routes/search.ts'
export type { FindEvent, FindSummary } from './routes/find.ts'
export type {
  HashedEntry,
  JournalEntry,
  JournalHead,
  JournalHeader,
  JournalInfo,
  JournalReceipt,
  JournalVerdict,
  NewJournalEntry,
  SignedHead,
} from './routes/journals.ts'
export type { IssuedKey, KeyInfo } from './routes/keys.ts'
export type {
  CheckpointInfo,
  CommitReceipt,
  LayerChange,
  LayerConflict,
  LayerConflictSide,
  LayerDecision,
  LayerInfo,
  LayerOverlap,
  LayerStatus,
  PickReceipt,
  RadarEvent,
  RefusedMerge,
  ResolveReceipt,
  RootReceipt,
  UndoReceipt,
} from './routes/layer-shapes.ts'
export type {
  CollectReport,
  ContentTally,
  Gone,
  RotationReport,
  ServerStatus,
  Tally,
} from './routes/server.ts'
export type { SqlAnswer, SqlCell } from './routes/sql.ts'
export type { IssuedToken, TokenInfo, TokenRequest, TokenRule } from './routes/tokens.ts'
export type {
  SecretInfo,
  SecretReceipt,
  SecretValues,
  SecretVersion,
  VaultValue,
} from './routes/vault.ts'
export type {
  IssuedVaultGrant,
  VaultAuditEntry,
  VaultGrant,
  VaultScope,
} from './routes/vault-grants.ts'
export type { DeletedWorkspace, WorkspaceDeletion, WorkspaceInfo } from './routes/workspaces.ts'
export type { Page, Quota, Used } from './schema/common.ts'
export { shellQuote } from './shell-quote.ts'
export { isToolCall } from './tool-call.ts'
export { ByteQueue } from './tar/byte-queue.ts'
export { type TarEntry, tarPaddingBytes } from './tar/entry.ts'
export { gatherChunks } from './tar/gather-chunks.ts'
export { TarReader } from './tar/read-tar.ts'
export { tarEnd, tarHeader } from './tar/write-tar.ts'
export {
  decodeCaveat,
  encodeCaveat,
  formatToken,
  grantOfToken,
  isToken,
  parseToken,
  tokenCharactersMax,
  type TokenText,
} from './token.ts'
export {
  type VaultOutcome,
  vaultOutcomes,
  type VaultPermission,
  vaultPermissions,
} from './vault-words.ts'
export { Writer } from './writer.ts'
