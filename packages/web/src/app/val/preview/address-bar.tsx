import { useSignal } from "@preact/signals"
import { useLayoutEffect } from "preact/hooks"
import { CopyButton, CopyChip } from "../../../ui/copy-button.tsx"
import { Icon, IconButton } from "../../../ui/icon.tsx"
import { Menu } from "../../parts/buttons/menu.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { hasBody, methods } from "./methods.ts"
import type { TypedRequest } from "./request-history.ts"
import { typedToCurl } from "./to-curl.ts"
import { needsJsonType } from "./to-headers.ts"
import { toValPath, type ValRequests } from "./val-requests.ts"

type Props = Pick<ValTabProps, "editing" | "requests"> & {
  /** Signed-out users can only look at the page. */
  readonly maySend: boolean
  /** The public address of the file. */
  readonly endpoint: string
  /** The typed path at the address of the frame. */
  readonly pageUrl: string
}

/** Method, path, and what can be done with the request. */
export function AddressBar(props: Props) {
  const { requests, maySend, endpoint, pageUrl } = props
  const { method, path } = requests.draft.value
  const isSending = requests.exchange.value.kind === "sending"
  return (
    <form
      class="address-bar"
      aria-label="Request"
      onSubmit={(event) => {
        event.preventDefault()
        void requests.send()
      }}
    >
      <CopyChip
        text={new URL(toValPath(path), endpoint).href}
        label="Copy the address"
        class="address-chip"
      />
      <div class="row address-line">
        {maySend ? (
          <select
            class="input address-method"
            aria-label="Method"
            value={method}
            onChange={(event) => requests.change({ method: event.currentTarget.value })}
          >
            {methods.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        ) : null}
        <input
          class="input input-mono"
          aria-label="Path"
          spellcheck={false}
          autocomplete="off"
          value={path}
          onInput={(event) => requests.change({ path: event.currentTarget.value })}
        />
        <button type="submit" class="button button-quiet button-small" title="Send the request">
          {maySend ? "Send" : "Go"}
        </button>
      </div>
      <div class="row address-tools">
        <IconButton
          icon="refresh"
          label="Reload"
          title="Load the page again"
          disabled={isSending}
          onClick={() => {
            requests.show("page")
            void requests.loadPage()
          }}
        />
        <a
          class="icon-button"
          aria-label="Open in a new tab"
          title="Open in a new tab"
          href={pageUrl}
          target="_blank"
          rel="noopener noreferrer"
        >
          <Icon name="external" />
        </a>
        {maySend ? <More {...props} /> : null}
      </div>
      {maySend ? <Details requests={requests} /> : null}
    </form>
  )
}

/** The history of requests, and the request as a command. */
function More({ editing, requests, endpoint }: Props) {
  const history = requests.history.value
  const isPrivate = editing.val.value.privacy === "private"
  const curl = () => typedToCurl(requests.draft.peek(), { endpoint, isPrivate })
  return (
    <>
      <Menu label="History" title="Earlier requests" button={<Icon name="history" />}>
        {history.length === 0 ? (
          <div class="small menu-note" role="menuitem" aria-disabled="true" tabIndex={-1}>
            Requests that you send are listed here.
          </div>
        ) : (
          history.map((request) => (
            <button
              key={JSON.stringify(request)}
              type="button"
              role="menuitem"
              onClick={() => requests.change(request)}
            >
              <code class="ellipsis history-row">{toTitle(request)}</code>
            </button>
          ))
        )}
      </Menu>
      <CopyButton text={curl} label="Copy as curl" />
    </>
  )
}

function toTitle({ method, path, body }: TypedRequest): string {
  return `${method} ${path}${body === "" ? "" : ` ${body.replaceAll(/\s+/g, " ")}`}`
}

function Details({ requests }: { requests: ValRequests }) {
  const { method, headers, body } = requests.draft.value
  const isWithBody = hasBody({ method })
  const isSet = headers !== "" || (isWithBody && body !== "")
  const isOpen = useSignal(isSet)
  // A method with a body was chosen, or a request of the history.
  useLayoutEffect(() => {
    if (isWithBody || isSet) isOpen.value = true
  }, [method, isSet])
  const count = headers.split("\n").filter((line) => line.trim() !== "").length
  return (
    <details
      class="fold address-details"
      open={isOpen.value}
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary>
        <Icon name="chevron" /> Headers{isWithBody ? " and body" : ""}
        {count > 0 || (isWithBody && body !== "") ? <span class="quiet"> (set)</span> : null}
      </summary>
      <textarea
        class="input input-mono"
        aria-label="Headers, one per line"
        placeholder="content-type: application/json"
        spellcheck={false}
        rows={2}
        value={headers}
        onInput={(event) => requests.change({ headers: event.currentTarget.value })}
      />
      {isWithBody ? (
        <>
          <textarea
            class="input input-mono"
            aria-label="Body"
            placeholder="Body"
            spellcheck={false}
            rows={3}
            value={body}
            onInput={(event) => requests.change({ body: event.currentTarget.value })}
          />
          {needsJsonType({ headers, body }) ? (
            <p class="quiet">
              <code>content-type: application/json</code> is added.
            </p>
          ) : null}
        </>
      ) : null}
    </details>
  )
}
