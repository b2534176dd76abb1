import { findHeader } from "../../../ui/response-view.tsx"
import { LogView } from "../../runs/log-view.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import type { PageLine } from "./to-page-line.ts"

type Props = Pick<ValTabProps, "editing" | "requests" | "actions">

/** The console of the page in the frame, and its requests. */
export function ConsolePanel(props: Props) {
  const { console } = props.requests
  const lines = console.lines.value
  return (
    <div class="column fill drawer-logs">
      {console.isSilent.value ? (
        <p class="small log-omitted" role="status">
          {explainSilence(props)}
        </p>
      ) : null}
      {lines.length === 0 ? (
        <p class="quiet">What the page logs, requests and throws appears here.</p>
      ) : (
        <LogView
          lines={lines}
          isLive
          isTruncated={false}
          toOrigin={(line) => toOrigin(line, props)}
          onClear={() => console.clear()}
        />
      )}
    </div>
  )
}

function explainSilence({ requests }: Props): string {
  const headers = requests.run.value?.responseContent?.headers ?? []
  if (findHeader(headers, "content-security-policy") !== "")
    return "The content security policy of this page does not allow the script that shows its console here."
  return "What is shown in the frame does not tell its console: it may be no HTML page of the val."
}

/** Files that a val sends as they are; the lines of others are not those of the page. */
const placePattern = /^\/([^?#]+\.m?js)(?:\?[^#]*)?:(\d+)$/

function toOrigin({ source }: PageLine, { editing, actions }: Props) {
  if (source === "") return undefined
  const [, path = "", line = ""] = placePattern.exec(source) ?? []
  const isFile = path !== "" && editing.files.find(path) !== undefined
  return {
    label: source,
    title: isFile ? `Show line ${line} of ${path}` : source,
    ...(isFile ? { onOpen: () => actions.goTo(path, Number(line)) } : {}),
  }
}
