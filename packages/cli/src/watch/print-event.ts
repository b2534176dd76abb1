import type { Output } from "../output/output.ts"
import { toClock } from "../runs/log-lines.ts"
import { toOneLine } from "../terminal/visible.ts"
import type { SyncEvent } from "./sync-event.ts"

/** Prints an event per line. Messages go to standard error, and each problem is printed once. */
export function createEventPrinter(output: Output): (event: SyncEvent) => void {
  const reported = new Map<string, string>()
  return (event) => {
    const { action, file, text } = event
    if (action === "problem") {
      if (reported.get(file) === text) return
      reported.set(file, text ?? "")
    } else reported.delete(file)
    if (output.mode === "json")
      output.json({ at: new Date().toISOString(), ...event, val: toShort(event) })
    else if (output.mode === "plain")
      output.line([action, file, toVal(event), event.other ?? ""].map(toOneLine).join("\t"))
    else if (text === undefined || event.isPlanned) output.line(toLine(output, event))
    if (text !== undefined)
      output.errorText(
        `${text}\n`,
        action === "left" ? output.errorColour.dim : output.errorColour.yellow,
      )
  }
}

/** The val without its code. */
function toShort({ val }: SyncEvent): SyncEvent["val"] {
  return (
    val && {
      ...(val.id !== undefined && { id: val.id }),
      name: val.name,
      ...(val.version !== undefined && { version: val.version }),
    }
  )
}

function toVal({ val }: SyncEvent): string {
  return val ? [val.name, val.version].filter((part) => part !== undefined).join("@") : ""
}

function toLine({ colour, toVisible }: Output, event: SyncEvent): string {
  const { action, file, other, isPlanned } = event
  const { mark, paint } = looks[action]
  const words = [
    colour[paint](`${mark} ${isPlanned ? `would be ${action}` : action}`),
    toVisible(file),
    colour.dim(toVal(event)),
  ]
  if (other !== undefined)
    words.push(
      colour.dim(
        `(${action === "renamed" || action === "moved" ? "was" : "see"} ${toVisible(other)})`,
      ),
    )
  return `${colour.dim(toClock(new Date().toISOString()))}  ${words.join("  ")}`
}

const looks: Readonly<
  Record<
    SyncEvent["action"],
    { readonly mark: string; readonly paint: "green" | "cyan" | "yellow" | "red" }
  >
> = {
  created: { mark: "↑", paint: "green" },
  saved: { mark: "↑", paint: "green" },
  wrote: { mark: "↓", paint: "cyan" },
  merged: { mark: "↕", paint: "cyan" },
  renamed: { mark: "→", paint: "cyan" },
  moved: { mark: "→", paint: "cyan" },
  left: { mark: "–", paint: "yellow" },
  deleted: { mark: "×", paint: "red" },
  trashed: { mark: "×", paint: "yellow" },
  conflict: { mark: "!", paint: "red" },
  problem: { mark: "!", paint: "red" },
}
