/** The resources that a `subscriptions/listen` asks for; none for any other message. */
export function subscriptionsOf(message: unknown): readonly string[] {
  const { method, params } = message as { readonly method?: unknown; readonly params?: unknown }
  if (method !== 'subscriptions/listen') return []
  const { notifications } = (params ?? {}) as { readonly notifications?: unknown }
  const { resourceSubscriptions } = (notifications ?? {}) as {
    readonly resourceSubscriptions?: unknown
  }
  if (!Array.isArray(resourceSubscriptions)) return []
  return resourceSubscriptions.filter((uri) => typeof uri === 'string')
}
