import { Outbox } from "./outbox.ts"
import { type PageLevel, pageLimits } from "./page-message.ts"
import { toShortUrl } from "./short-url.ts"
import { toErrorText, toLogText } from "./value-text.ts"
import { watchConsole } from "./watch-console.ts"
import { watchRequests } from "./watch-requests.ts"

/**
 * Runs first in the page of a val that the app shows in a frame. It tells the app what the page logs,
 * fetches and throws, changes nothing else, and reads nothing else.
 */
function start(): void {
  const script = document.currentScript
  if (!(script instanceof HTMLScriptElement)) return
  const { src } = script
  const app = script.dataset.app ?? ""
  // The page finds its document as it made it.
  script.remove()
  const origins = location.ancestorOrigins
  // A frame inside the page, or a page that another site shows.
  if (parent === window || parent !== top || (origins && origins[0] !== app)) return
  const outbox = new Outbox(
    // Bound now: the page may replace what it finds.
    (
      (post) => (message: string) =>
        post(message, app)
    )(parent.postMessage.bind(parent)),
    performance.now.bind(performance),
    window.setTimeout.bind(window),
  )
  const addLine = (level: PageLevel, source: string, toText: () => string) =>
    outbox.add(level === "error", () => ({ kind: "line", level, source, text: toText() }))
  outbox.add(true, () => ({ kind: "page", path: toShortUrl(location.href) }))
  watchConsole((level, values) =>
    outbox.add(level === "error", () => ({
      kind: "line",
      level,
      text: toLogText(values),
      source: findSource(src),
    })),
  )
  watchRequests((make) => outbox.add(true, make))
  watchErrors(addLine)
  window.addEventListener("pagehide", () => outbox.flush())
}

function watchErrors(
  addLine: (level: PageLevel, source: string, toText: () => string) => void,
): void {
  const toUncaught = (label: string, reason: unknown) =>
    reason instanceof Error
      ? `${label}${toErrorText(reason)}`.slice(0, pageLimits.textCharsMax)
      : toLogText([`${label.replaceAll("%", "%%")}%o`, reason])
  // Captured, since the failure of an element to load does not bubble.
  window.addEventListener(
    "error",
    (event) => {
      const { target } = event
      if (target instanceof Element) {
        const address = target.getAttribute("src") ?? target.getAttribute("href") ?? ""
        addLine("error", "", () => `Cannot load <${target.localName}> ${toShortUrl(address)}`)
        return
      }
      const { error, message, filename, lineno } = event
      const source = filename ? `${toShortUrl(filename)}:${lineno}` : ""
      addLine("error", source, () =>
        error === undefined || error === null
          ? message.slice(0, pageLimits.textCharsMax)
          : toUncaught("Uncaught ", error),
      )
    },
    { capture: true },
  )
  window.addEventListener("unhandledrejection", ({ reason }) =>
    addLine("error", "", () => toUncaught("Uncaught (in promise) ", reason)),
  )
}

/** The place of the call that is noted: the first one of the stack outside of this script. */
function findSource(ownUrl: string): string {
  const { stack } = new Error()
  if (typeof stack !== "string") return ""
  for (const line of stack.split("\n")) {
    const [, url = "", number = ""] = /((?:https?|blob):[^\s()]+):(\d+):\d+\)?$/.exec(line) ?? []
    if (url !== "" && url !== ownUrl) return `${toShortUrl(url)}:${number}`
  }
  return ""
}

start()
