import type { Item } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { Icon } from "../../../ui/icon.tsx"
import { Bars } from "../../../ui/page-states.tsx"
import { api } from "../../api.ts"
import { Loaded } from "../../data/loaded.tsx"
import { useResource } from "../../data/resource.ts"
import { Segments } from "../../parts/segments.tsx"
import { RunErrorView } from "../../runs/run-error-view.tsx"
import { session } from "../../session/session.ts"
import type { ValTabProps } from "../val-tab-props.ts"
import { RequestBuilder } from "./request-builder.tsx"

/** A run is recorded shortly after its response. */
const recordMs = 400

/** The val's page in a frame, and a builder for requests to it. */
export function PreviewPanel(
  props: Pick<ValTabProps, "editing" | "isOwn"> & {
    /** Its input stays while it is hidden. */
    readonly isShown: boolean
    /** A new number reloads the page. */
    readonly reloadKey: number
    readonly onGoTo: (line: number) => void
  },
) {
  const { editing, isOwn, isShown, reloadKey, onGoTo } = props
  const view = useSignal<"page" | "request">("page")
  const path = useSignal("/")
  const count = useSignal(0)
  const { id, privacy, links, name } = editing.val.value
  const failure = useFailure(id, isOwn)
  const isSignedIn = session.value.kind === "signed-in" || session.value.kind === "ended"
  // A private val needs a token, which a frame cannot send: the frame gets a temporary address.
  const address = useResource(`${id} ${privacy} ${isSignedIn}`, async (signal) =>
    isSignedIn
      ? await api.createPreview({ val_id: id }, { signal })
      : { url: links.endpoint ?? "", expiresAt: null },
  )
  const reload = () => {
    const expiresAt = address.state.kind === "ready" ? address.state.data.expiresAt : null
    if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) address.reload()
    count.value += 1
  }
  return (
    <div class="side-body" hidden={!isShown}>
      <div class="preview-bar">
        <Segments
          label="View"
          choices={[
            { name: "page", label: "Page" },
            ...(isSignedIn ? [{ name: "request" as const, label: "Request" }] : []),
          ]}
          current={view.value}
          onChange={(name) => {
            view.value = name
          }}
        />
        {view.value === "page" ? (
          <>
            <input
              class="input input-mono"
              aria-label="Path"
              spellcheck={false}
              autocomplete="off"
              value={path.value}
              onChange={(event) => {
                path.value = toPath(event.currentTarget.value)
                reload()
              }}
            />
            <button
              type="button"
              class="icon-button"
              aria-label="Reload"
              title="Reload"
              onClick={reload}
            >
              <Icon name="refresh" />
            </button>
          </>
        ) : null}
      </div>
      <div class="preview-body" hidden={view.value !== "page"}>
        {failure.run?.error ? (
          <section class="preview-failure" aria-label="Error of the last request">
            <RunErrorView error={failure.run.error} onGoTo={onGoTo} />
            <a href={`/runs/${failure.run.id}`}>Open the run</a>
          </section>
        ) : null}
        <Loaded of={address} skeleton={<Bars count={4} />}>
          {({ url }) => (
            <iframe
              key={`${count.value} ${reloadKey}`}
              class="preview-frame"
              title={`Preview of ${name}`}
              src={new URL(path.value, url).href}
              // Its origin is not the app's, so allow-same-origin gives it no access to the app. It
              // may not navigate the whole window.
              sandbox="allow-scripts allow-forms allow-same-origin allow-modals allow-popups"
              referrerpolicy="no-referrer"
              onLoad={() => void failure.check()}
            />
          )}
        </Loaded>
      </div>
      <div hidden={view.value !== "request"}>
        <RequestBuilder valId={id} />
      </div>
    </div>
  )
}

/** The last request to the user's own val, if it failed: the app cannot read the page in the frame. */
function useFailure(valId: string, isOwn: boolean) {
  const run = useSignal<Item<"listValRuns"> | undefined>(undefined)
  const check = async () => {
    if (!isOwn) return
    await new Promise((resolve) => setTimeout(resolve, recordMs))
    try {
      const { data } = await api.listValRuns({ val_id: valId, source: "http", limit: 1 })
      run.value = data[0]?.error ? data[0] : undefined
    } catch {
      // The page in the frame says that the request failed.
    }
  }
  return { run: run.value, check }
}

/** Always a path of the val: `//host` and `/\host` would be another host. */
function toPath(text: string): string {
  return `/${text.replace(/^[/\\\s]+/, "")}`
}
