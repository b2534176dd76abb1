import { Icon, type IconName } from "../../../../ui/icon.tsx"
import { toMoment } from "../../../parts/time.ts"
import type { EditedFile } from "../edited-file.ts"
import type { FileType } from "../load-files.ts"
import type { FileMarks } from "./file-marks.ts"

/** What starts a file, in a word and as a drawing. */
const triggers = {
  http: { icon: "http", label: "HTTP" },
  interval: { icon: "timer", label: "interval" },
  email: { icon: "mail", label: "email" },
  script: { icon: "play", label: "script" },
} as const satisfies Partial<Record<FileType, { icon: IconName; label: string }>>

/** The types that a user chooses from, with their meaning. */
export const treeTypeChoices = [
  { value: "script", icon: "play", label: "Script", hint: "runs on demand, or is imported" },
  { value: "http", icon: "http", label: "HTTP", hint: "responds at a web address" },
  { value: "interval", icon: "timer", label: "Interval", hint: "runs on a schedule" },
  { value: "email", icon: "mail", label: "Email", hint: "runs when an email arrives" },
  { value: "file", icon: "file", label: "File", hint: "a text that others read" },
] as const satisfies readonly { value: FileType; icon: IconName; label: string; hint: string }[]

interface Mark {
  readonly icon: IconName
  /** Beside the drawing. */
  readonly text: string
  /** For screen readers and the pointer. */
  readonly label: string
}

/** What starts a file; undefined for a module and for a file that is not code. */
export function findMark(file: EditedFile, marks: FileMarks): Mark | undefined {
  const type = file.type.value
  if (type === "directory" || type === "file" || (type === "script" && isModule(file)))
    return undefined
  const { icon, label } = triggers[type]
  const schedule =
    type === "interval" ? marks.schedules.value.get(file.saved.value?.id ?? "") : undefined
  if (!schedule) return { icon, text: "", label }
  const next = schedule.nextAt[0]
  if (next === undefined) return { icon, text: "paused", label: `${label}, paused` }
  return { icon, text: toTimeAhead(next), label: `${label}, next at ${toMoment(next)}` }
}

/** The drawing of what starts a file, with the next time of a schedule. */
export function FileBadge({ file, marks }: { file: EditedFile; marks: FileMarks }) {
  const mark = findMark(file, marks)
  if (!mark) return null
  return (
    // The text is drawn by the style sheet: the name of the row says it in full.
    <span class="tree-badge" title={mark.label} data-text={mark.text} aria-hidden="true">
      <Icon name={mark.icon} />
    </span>
  )
}

/** Whether others import it and nothing runs it by itself. Unknown before its text is there. */
function isModule(file: EditedFile): boolean {
  const text = file.text.value
  return text === undefined || !/^\s*export\s+(default\b|\{[^}]*\bas\s+default\b)/m.test(text)
}

const dayMs = 86_400_000
const hour = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
})
const weekday = new Intl.DateTimeFormat("en", { weekday: "short" })
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" })

/** A time ahead in a few letters: `02:30`, `Mon`, `Dec 3`. */
export function toTimeAhead(at: string, nowMs = Date.now()): string {
  const time = Date.parse(at)
  if (time - nowMs < dayMs) return hour.format(time)
  return (time - nowMs < 7 * dayMs ? weekday : day).format(time)
}
