import { signal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import { Icon, type IconName } from "./icon.tsx"

/** Grey shapes in place of a page that is loading. */
export function PageSkeleton() {
  return (
    <div class="page-skeleton" role="status" aria-label="Loading" aria-busy="true">
      <Bars count={1} kind="title" />
      <Bars count={6} />
    </div>
  )
}

/** Grey lines in place of text that is loading. */
export function Bars({ count, kind = "line" }: { count: number; kind?: "line" | "title" | "row" }) {
  return (
    <div class="bars" aria-hidden="true">
      {Array.from({ length: count }, (_, index) => (
        <span key={index} class={`bar bar-${kind}`} />
      ))}
    </div>
  )
}

/** A place without content: says why, and what to do. */
export function EmptyState(props: {
  readonly icon: IconName
  readonly title: string
  readonly role?: "alert"
  /** The page has no other heading then. */
  readonly isWholePage?: boolean
  readonly children?: ComponentChildren
}) {
  const heading = { class: "empty-title", children: props.title }
  return (
    <div class="empty" {...(props.role ? { role: props.role } : {})}>
      <span class="empty-icon">
        <Icon name={props.icon} />
      </span>
      {props.isWholePage ? <h1 tabIndex={-1} {...heading} /> : <h2 {...heading} />}
      {props.children}
    </div>
  )
}

/** Something failed: the reason, and a button that tries again. */
export function FailureState(props: {
  readonly title?: string
  readonly message: string
  readonly onRetry?: (() => void) | undefined
  readonly isWholePage?: boolean
  readonly children?: ComponentChildren
}) {
  const { title = "That did not work", message, onRetry, isWholePage = false, children } = props
  return (
    <EmptyState icon="warning" title={title} role="alert" isWholePage={isWholePage}>
      <p>{message}</p>
      {children}
      {onRetry ? (
        <button type="button" class="button button-quiet" onClick={onRetry}>
          Try again
        </button>
      ) : null}
    </EmptyState>
  )
}

/** A script could not be loaded. Browsers do not fetch it again, so the page is loaded anew. */
export function LoadFailure({ part, ...page }: { part: string; isWholePage?: boolean }) {
  const message = `Cannot load ${part}: the server does not respond, or has a newer version of the app`
  return <FailureState message={message} onRetry={() => location.reload()} {...page} />
}

/** The name of the organisation for which the user acts, which titles contain. */
export const titleOwner = signal<string | undefined>(undefined)

/** Sets the title of the browser tab. */
export function useTitle(title: string | undefined): void {
  const owner = titleOwner.value
  useEffect(() => {
    const parts = new Set([title, owner, "Hamlet"])
    document.title = [...parts].filter((part) => part !== undefined).join(" · ")
  }, [title, owner])
}
