import type { UsedPages } from "./pages.ts"

/** Asks for the next page of a list. */
export function MoreButton({
  list,
}: {
  list: Pick<UsedPages<unknown>, "state" | "more" | "isLoadingMore">
}) {
  if (list.state.kind !== "ready" || list.state.data.next === undefined) return null
  return (
    <p class="more">
      <button
        type="button"
        class="button button-quiet"
        disabled={list.isLoadingMore}
        onClick={() => void list.more()}
      >
        {list.isLoadingMore ? "Loading…" : "Show more"}
      </button>
    </p>
  )
}
