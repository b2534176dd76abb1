import { useEffect } from "preact/hooks"
import { Bars } from "../../../ui/page-states.tsx"
import { Loaded } from "../../data/loaded.tsx"
import type { UsedResource } from "../../data/resource.ts"
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
    <div class="page-host" hidden={!isShown}>
      {isLeaving(props) ? (
        <p class="notice" role="status">
          The val redirects. Pages of other sites are not shown here: open it in a new tab.
        </p>
      ) : null}
      <Loaded of={address} skeleton={<Bars count={4} />}>
        {({ url }) =>
          number === 0 ? null : (
            <iframe
              key={number}
              class="page-frame"
              title={`Preview of ${name}`}
              src={toUrl(path, url)}
              // Its origin is not the app's, so allow-same-origin gives it no access to the app. It
              // may not navigate the whole window.
              sandbox="allow-scripts allow-forms allow-same-origin allow-modals allow-popups"
              referrerpolicy="no-referrer"
              onLoad={() => requests.pageLoaded(number)}
            />
          )
        }
      </Loaded>
    </div>
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
