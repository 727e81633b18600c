import { isCairnError, type JournalHead, type Journals, type NewJournalEntry } from '@cairn/sdk'
import { hashText } from '../hash-text.ts'
import { openAccess, type WorkspaceAccess } from '../workspace-access.ts'

/** The part of the types of the Claude Agent SDK that is used here. */
export interface ClaudeSessionKey {
  projectKey: string
  sessionId: string
  /** Names the transcript of a sub-agent. */
  subpath?: string
}

export interface ClaudeTranscriptEntry {
  type: string
  uuid?: string
  timestamp?: string
  [field: string]: unknown
}

export interface ClaudeSessionStore {
  append(key: ClaudeSessionKey, entries: ClaudeTranscriptEntry[]): Promise<void>
  load(key: ClaudeSessionKey): Promise<ClaudeTranscriptEntry[] | null>
  listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>
  listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]>
}

const kind = 'claude-session'
const partType = 'claude.transcript'
/** Less than a summary of a journal takes: in JSON a character may become two. */
const partChars = 30_000
/** Less than an append takes, in entries and in bytes. */
const partsAtOnce = 50

/**
 * Keeps the transcripts of the Claude Agent SDK in journals of a workspace: signed, in a chain, and readable from any
 * machine. A session is resumed from them. Journals are not deleted, so neither are transcripts.
 *
 * @example
 * ```ts
 * const sessionStore = cairnSessionStore({ server: 'http://127.0.0.1:7070', apiKey, workspace: 'site' })
 * for await (const message of query({ prompt, options: { sessionStore, resume: sessionId } })) show(message)
 * ```
 */
export function cairnSessionStore(access: WorkspaceAccess): ClaudeSessionStore {
  const { journals } = openAccess(access)
  return {
    append: async (key, entries) => {
      const id = idOf(key)
      const { projectKey: project, sessionId: session, subpath } = key
      await journals.create(id, {
        kind,
        meta: { project, session, ...(subpath !== undefined && { subpath }) },
      })
      const parts = entries.flatMap(partsOf)
      for (let at = 0; at < parts.length; at += partsAtOnce)
        await journals.append(id, parts.slice(at, at + partsAtOnce))
    },
    load: (key) => load(journals, idOf(key)),
    listSessions: async (projectKey) => {
      const sessions: { sessionId: string; mtime: number }[] = []
      for await (const { meta, head } of listOf(journals, projectKey))
        if (meta['subpath'] === undefined)
          sessions.push({ sessionId: meta['session']!, mtime: Date.parse(head.time) })
      return sessions
    },
    listSubkeys: async ({ projectKey, sessionId }) => {
      const subkeys: string[] = []
      for await (const { meta } of listOf(journals, projectKey))
        if (meta['session'] === sessionId && meta['subpath'] !== undefined)
          subkeys.push(meta['subpath'])
      return subkeys
    },
  }
}

function idOf({ projectKey, sessionId, subpath }: ClaudeSessionKey): string {
  return `claude-${hashText(JSON.stringify([projectKey, sessionId, subpath]))}`
}

/** An entry may be larger than a journal takes at once. In ASCII it can be cut anywhere. */
function partsOf(entry: ClaudeTranscriptEntry): NewJournalEntry[] {
  const escape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  const text = JSON.stringify(entry).replaceAll(/[\u0080-\uffff]/g, escape)
  const parts = Math.ceil(text.length / partChars)
  return Array.from({ length: parts }, (_, part) => ({
    type: partType,
    summary: { part, parts, text: text.slice(part * partChars, (part + 1) * partChars) },
  }))
}

/** Null for a session that was never written. What was sent twice has the same uuid. */
async function load(journals: Journals, id: string): Promise<ClaudeTranscriptEntry[] | null> {
  const entries: ClaudeTranscriptEntry[] = []
  const seen = new Set<string>()
  let text = ''
  try {
    for await (const { type, summary } of journals.read(id)) {
      if (type !== partType) continue
      const { part, parts, text: piece } = summary as unknown as Part
      // A batch that was cut off in the middle of an entry was sent again as a whole.
      text = part === 0 ? piece : text + piece
      if (part < parts - 1) continue
      const entry = JSON.parse(text) as ClaudeTranscriptEntry
      if (entry.uuid !== undefined && seen.has(entry.uuid)) continue
      if (entry.uuid !== undefined) seen.add(entry.uuid)
      entries.push(entry)
    }
  } catch (error) {
    if (isCairnError(error) && error.code === 'journal_missing') return null
    throw error
  }
  return entries
}

interface Part {
  readonly part: number
  readonly parts: number
  readonly text: string
}

async function* listOf(
  journals: Journals,
  projectKey: string,
): AsyncGenerator<{ readonly meta: Readonly<Record<string, string>>; readonly head: JournalHead }> {
  for await (const { kind: found, meta = {}, head } of journals.list())
    if (found === kind && meta['project'] === projectKey) yield { meta, head }
}
