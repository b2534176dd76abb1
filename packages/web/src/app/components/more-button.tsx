/** Asks for the next page of a list. */
export function MoreButton({
  list,
}: {
  list: { more(): Promise<void>; readonly isLoadingMore: boolean; readonly state: { readonly kind: string } & object }
}) {
  const { state } = list as { state: { kind: string; data?: { hasMore: boolean } } }
  if (state.kind !== "ready" || !state.data?.hasMore) return null
  return (
    <p class="more">
      <button type="button" class="button button-quiet" disabled={list.isLoadingMore} onClick={() => void list.more()}>
        {list.isLoadingMore ? "Loading…" : "Show more"}
      </button>
    </p>
  )
}
