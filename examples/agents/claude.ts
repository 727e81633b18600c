/** Claude works in a mounted layer. If the test still fails, everything is as it was before its first call. */
import {
  type CairnHooks,
  cairnHooks,
  type CairnHooksOptions,
  type ClaudeHookMatcher,
} from '@cairn/agents/claude'

/** The part of `query` of @anthropic-ai/claude-agent-sdk that is used here. */
export type Query = (asked: {
  readonly prompt: string
  readonly options: { readonly cwd: string; readonly hooks: CairnHooks['hooks'] }
}) => AsyncIterable<unknown>

export async function fixWithClaude(
  query: Query,
  cwd: string,
  isFixed: () => Promise<boolean>,
  options: CairnHooksOptions = {},
): Promise<boolean> {
  const { hooks, rewind } = cairnHooks(options)
  let first: string | undefined
  const note: ClaudeHookMatcher['hooks'][number] = async (event) => {
    first ??= (event as typeof event & { readonly tool_use_id: string }).tool_use_id
    return {}
  }
  hooks.PreToolUse.push({ ...hooks.PreToolUse[0], hooks: [note] })
  for await (const _ of query({ prompt: 'sh test.sh fails.', options: { cwd, hooks } }));
  const done = await isFixed()
  if (!done && first !== undefined) await rewind(first, cwd)
  return done
}
