import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { Icon } from "../../../ui/icon.tsx"
import { Bars } from "../../../ui/page-states.tsx"
import { Loaded } from "../../data/loaded.tsx"
import type { UsedResource } from "../../data/resource.ts"
import { Button } from "../../parts/buttons/button.tsx"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { RecordedResponse } from "../../runs/exchange-view.tsx"
import { toRunText } from "../../runs/list/run-title.ts"
import type { ValTabProps } from "../val-tab-props.ts"

type FrameProps = Pick<ValTabProps, "editing" | "requests" | "recent">

/** The val's page in a frame on its own origin. */
export function PageFrame(
  props: FrameProps & {
    readonly address: UsedResource<{ readonly url: string; readonly expiresAt: string | null }>
    readonly isShown: boolean
    readonly toUrl: (path: string, url: string) => string
  },
) {
  const { editing, requests, address, isShown, toUrl } = props
  const { path, number } = requests.page.value
  const { name } = editing.val.value
  useEffect(() => {
    const expiresAt = address.state.kind === "ready" ? address.state.data.expiresAt : null
    if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) address.reload()
  }, [number])
  return (
    <div class="column fill page-host" hidden={!isShown}>
      {isLeaving(props) ? (
        <p class="row wrap small notice" role="status">
          The val redirects. Pages of other sites are not shown here: open it in a new tab.
        </p>
      ) : null}
      {number === 0 ? (
        <LastPage requests={requests} />
      ) : (
        <Loaded of={address} skeleton={<Bars count={4} />}>
          {({ url }) => (
            <Frame
              key={number}
              title={`Preview of ${name}`}
              src={toUrl(path, url)}
              requests={requests}
              onLoad={() => requests.pageLoaded(number)}
            />
          )}
        </Loaded>
      )}
    </div>
  )
}

function Frame(
  props: Pick<ValTabProps, "requests"> & {
    readonly title: string
    readonly src: string
    readonly onLoad: () => void
  },
) {
  const { title, src, requests, onLoad } = props
  const element = useRef<HTMLIFrameElement>(null)
  // The page may send messages as soon as it is there.
  useLayoutEffect(() => {
    const { origin } = new URL(src)
    const listen = (event: MessageEvent) => {
      // The frame may have gone to another site, and other windows may send messages as well.
      const isOfPage = event.origin === origin && event.source === element.current?.contentWindow
      if (isOfPage) requests.console.receive(event)
    }
    addEventListener("message", listen)
    return () => removeEventListener("message", listen)
  }, [src, requests])
  return (
    <iframe
      ref={element}
      class="preview-frame page-frame"
      title={title}
      src={src}
      // Its origin is not the app's, so allow-same-origin gives it no access to the app. It may not
      // navigate the whole window.
      sandbox="allow-scripts allow-forms allow-same-origin allow-modals allow-popups"
      // The gateway recognises the frame by it, adds the script that tells the console, and does not
      // pass it on.
      referrerpolicy="origin"
      onLoad={onLoad}
    />
  )
}

/** Whether the last request was redirected, and not to the val: there is no request after it. */
function isLeaving({ requests, recent }: FrameProps): boolean {
  const run = requests.run.value
  const status = run?.request?.status ?? 200
  return (
    requests.exchange.value.kind === "shown" &&
    status >= 300 &&
    status < 400 &&
    recent.runs.value[0]?.id === run?.id
  )
}

/**
 * In place of a page that has not been loaded: the picture of an empty one, which loads it with a
 * click. A last response that was no page is shown as it was recorded.
 */
function LastPage({ requests }: Pick<ValTabProps, "requests">) {
  const { exchange, run } = requests
  // A request that is under way, or was cancelled, is another one.
  const last = exchange.value.kind === "none" ? run.value : undefined
  const load = (
    <Button
      kind="quiet small"
      disabled={exchange.value.kind === "sending"}
      onClick={() => requests.loadPage()}
    >
      Load the page
    </Button>
  )
  if (!last && requests.isLooking.value) return <Bars count={4} />
  if (!last)
    return (
      <button
        type="button"
        class="page-nothing"
        disabled={exchange.value.kind === "sending"}
        onClick={() => requests.loadPage()}
      >
        <span class="page-picture" aria-hidden="true">
          <Icon name="play" />
        </span>
        <span class="empty-title">Load the page</span>
        <span class="small quiet">Nothing is sent to the val before that.</span>
      </button>
    )
  return (
    <section class="column fill last-page" aria-label="The last response">
      <p class="row wrap small notice">
        <span>
          <code>{toRunText(last)}</code> <TimeAgo at={last.runStartAt} />, by version{" "}
          {last.val.version}, as it was recorded.
        </span>
        {load}
      </p>
      <div class="column fill bench-content">
        <RecordedResponse run={last} />
      </div>
    </section>
  )
}
