import type { ComponentChildren } from "preact"
import { Bars, EmptyState, FailureState, PageSkeleton } from "../../ui/page-states.tsx"
import { Button } from "../parts/buttons/button.tsx"
import { isEmbedded } from "../settings.ts"
import { isServerLost } from "./connection.ts"
import { explain, isConnectionError, isNotFound } from "./explain.ts"
import type { UsedPages } from "./pages.ts"
import type { UsedResource } from "./resource.ts"

/** Shows fetched data: grey shapes while it loads, the reason and another try when it failed. */
export function Loaded<Data>(props: {
  readonly of: Pick<UsedResource<Data>, "state" | "reload">
  /** Without one, the data is the whole page. */
  readonly skeleton?: ComponentChildren
  readonly children: (data: Data) => ComponentChildren
}) {
  const { of, skeleton, children } = props
  const { state, reload } = of
  const isWholePage = skeleton === undefined
  if (state.kind === "loading") return isWholePage ? <PageSkeleton /> : skeleton
  if (state.kind === "ready") return children(state.data)
  if (isNotFound(state.error)) return <NotFound isWholePage={isWholePage} />
  // The banner says it once, and the data is fetched again when the server is back.
  if (isServerLost.value && isConnectionError(state.error))
    return isWholePage ? <PageSkeleton /> : skeleton
  return <FailureState message={explain(state.error)} onRetry={reload} isWholePage={isWholePage} />
}

/** How a list that is fetched page by page is shown. */
export interface LoadedPagesProps<Element> {
  readonly of: UsedPages<Element>
  /** Grey rows that are shown while the list loads. */
  readonly rows: number
  readonly empty: ComponentChildren
  /** Shown while there are no items, but more may follow; by default like `empty`. */
  readonly emptySoFar?: ComponentChildren
  /** The label of the button. */
  readonly moreLabel?: string
  readonly children: (items: readonly Element[]) => ComponentChildren
}

/** A list that is fetched page by page, with a button for the next page. */
export function LoadedPages<Element>(props: LoadedPagesProps<Element>) {
  const { of, rows, empty, emptySoFar = empty, moreLabel = "Show more", children } = props
  const { state, isLoadingMore } = of
  const hasMore = state.kind === "ready" && state.data.next !== undefined
  const isBusy = isLoadingMore || (state.kind === "ready" && state.isStale)
  return (
    <>
      <Loaded of={of} skeleton={<Bars count={rows} kind="row" />}>
        {({ items }) => (items.length > 0 ? children(items) : hasMore ? emptySoFar : empty)}
      </Loaded>
      {hasMore ? (
        <MoreButton isBusy={isBusy} onClick={of.more}>
          {isLoadingMore ? "Loading…" : moreLabel}
        </MoreButton>
      ) : null}
    </>
  )
}

/** The button for the next page of a list. */
export function MoreButton(props: {
  readonly isBusy?: boolean
  readonly onClick: () => unknown
  readonly children: string
}) {
  return (
    <p class="more">
      <Button kind="quiet" disabled={props.isBusy ?? false} onClick={props.onClick}>
        {props.children}
      </Button>
    </p>
  )
}

/** There is nothing at this address, or nothing that this user may see. */
export function NotFound({ isWholePage = true }: { isWholePage?: boolean }) {
  const target = isEmbedded ? { target: "_blank", rel: "noopener noreferrer" } : {}
  return (
    <EmptyState icon="search" title="Not found" isWholePage={isWholePage}>
      <p>
        It never existed, it was deleted, or it is private and you are not signed in as its owner.
      </p>
      <p>
        <a href="/" {...target}>
          Back to the home page
        </a>{" "}
        or{" "}
        <a href="/search" {...target}>
          search public vals
        </a>
      </p>
    </EmptyState>
  )
}
