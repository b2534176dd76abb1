import type { ComponentChildren } from "preact"
import { Icon, type IconName } from "../../ui/icon.tsx"
import { isEmbedded } from "../settings.ts"
import { explain, isNotFound } from "./explain.ts"
import type { Resource } from "./resource.ts"

/**
 * Shows what was fetched, or how things stand with it: grey shapes while it loads, the reason and
 * another try when it failed.
 */
export function Loaded<Data>(props: {
  readonly of: Resource<Data>
  readonly onRetry: () => void
  readonly skeleton?: ComponentChildren
  readonly children: (data: Data) => ComponentChildren
}) {
  const { of, onRetry, skeleton, children } = props
  // What has no shape of its own is all of the page.
  const isWholePage = skeleton === undefined
  if (of.kind === "loading") return isWholePage ? <PageSkeleton /> : <>{skeleton}</>
  if (of.kind === "failed" && isNotFound(of.error)) return <NotFound isWholePage={isWholePage} />
  if (of.kind === "failed")
    return <Failure error={of.error} onRetry={onRetry} isWholePage={isWholePage} />
  return <>{children(of.data)}</>
}

/** The shape of a page that is on its way. */
export function PageSkeleton() {
  return (
    <div class="page-skeleton" role="status" aria-label="Loading">
      <Bars count={1} kind="title" />
      <Bars count={6} />
    </div>
  )
}

/** Grey lines where text will be. */
export function Bars({ count, kind = "line" }: { count: number; kind?: "line" | "title" | "row" }) {
  return (
    <div class="bars" aria-hidden="true">
      {Array.from({ length: count }, (_, index) => (
        <span key={index} class={`bar bar-${kind}`} />
      ))}
    </div>
  )
}

/** There is nothing here, or nothing that this person may see. */
export function NotFound({ isWholePage = true }: { isWholePage?: boolean }) {
  const target = isEmbedded ? { target: "_blank", rel: "noopener noreferrer" } : {}
  return (
    <EmptyState icon="search" title="There is nothing here" isWholePage={isWholePage}>
      <p>
        Either it never existed, it was deleted, or it is private and you are not signed in as its
        owner.
      </p>
      <p>
        <a href="/" {...target}>
          Back to the start
        </a>{" "}
        or{" "}
        <a href="/search" {...target}>
          search public vals
        </a>
      </p>
    </EmptyState>
  )
}

/** Something went wrong, in words, with a button to try again. */
export function Failure({
  error,
  onRetry,
  isWholePage = false,
}: {
  error: unknown
  onRetry?: () => void
  isWholePage?: boolean
}) {
  return (
    <EmptyState icon="warning" title="That did not work" role="alert" isWholePage={isWholePage}>
      <p>{explain(error)}</p>
      {onRetry ? (
        <p>
          <button type="button" class="button button-quiet" onClick={onRetry}>
            Try again
          </button>
        </p>
      ) : null}
    </EmptyState>
  )
}

/** A place where there will be something: says what, and how it gets there. */
export function EmptyState(props: {
  readonly icon: IconName
  readonly title: string
  readonly role?: "alert"
  /** There is no other heading then. */
  readonly isWholePage?: boolean
  readonly children?: ComponentChildren
}) {
  const Heading = props.isWholePage ? "h1" : "h2"
  return (
    <div class="empty" {...(props.role ? { role: props.role } : {})}>
      <span class="empty-icon">
        <Icon name={props.icon} />
      </span>
      <Heading class="empty-title">{props.title}</Heading>
      {props.children}
    </div>
  )
}
