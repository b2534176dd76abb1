import cronstrue from "cronstrue"
import { splitDuration, type Timing } from "./timing.ts"

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
const dayKeys = days.map((day) => day.slice(0, 3).toUpperCase())

/** The timing as part of a sentence, such as "every weekday at 09:00 in Europe/Berlin". */
export function describeTiming(timing: Timing): string {
  if (timing.every !== null) return `every ${describeDuration(timing.every)}`
  const cron = timing.cron ?? ""
  return `${describeDaily(cron) ?? describeCron(cron)} in ${timing.timeZone}`
}

function describeDuration(every: string): string {
  const parts = splitDuration(every)
  const [first] = parts
  // A day of this kind has 24 hours, also when daylight saving begins or ends.
  if (parts.length === 1 && first?.count === 1 && first.unit !== "day") return first.unit
  return joinWords(parts.map(({ count, unit }) => `${count} ${unit}${count === 1 ? "" : "s"}`))
}

/** For an expression that is due once on some days of the week: the commonest kind. */
function describeDaily(cron: string): string | undefined {
  const fields = cron.split(" ")
  const [second = "", minute = "", hour = "", day, month, weekdays = ""] =
    fields.length === 5 ? ["0", ...fields] : fields
  if (day !== "*" || month !== "*") return undefined
  if (![second, minute, hour].every((field) => /^\d{1,2}$/.test(field))) return undefined
  const time = [hour, minute, ...(Number(second) === 0 ? [] : [second])]
    .map((field) => field.padStart(2, "0"))
    .join(":")
  const on = describeDays(weekdays)
  return on && `every ${on} at ${time}`
}

function describeDays(field: string): string | undefined {
  if (field === "*") return "day"
  const numbers = new Set<number>()
  for (const part of field.split(",")) {
    const ends = part.split("-")
    const [from, to] = [toDayNumber(ends[0] ?? ""), toDayNumber(ends.at(-1) ?? "")]
    if (ends.length > 2 || from === undefined || to === undefined || from > to) return undefined
    for (let number = from; number <= to; number++) numbers.add(number % 7)
  }
  const key = [...numbers].sort().join("")
  if (key === "0123456") return "day"
  if (key === "12345") return "weekday"
  // The week of a sentence begins on Monday.
  const order = [1, 2, 3, 4, 5, 6, 0].filter((number) => numbers.has(number))
  return joinWords(order.map((number) => days[number] ?? ""))
}

/** 0 to 7, where 0 and 7 are Sunday. */
function toDayNumber(text: string): number | undefined {
  if (/^[0-7]$/.test(text)) return Number(text)
  const index = dayKeys.indexOf(text.toUpperCase())
  return index === -1 ? undefined : index
}

function describeCron(cron: string): string {
  try {
    const text = cronstrue.toString(toDescribable(cron), {
      use24HourTimeFormat: true,
      // `+` before the day of the week: both days must match.
      logicalAndDayFields: cron.includes("+"),
    })
    return `${text.charAt(0).toLowerCase()}${text.slice(1)}`
  } catch {
    // There are expressions that croner reads and cronstrue does not, such as 5-6#L.
    return `at the times of "${cron}"`
  }
}

/** Writes the expression in the way that cronstrue describes truthfully. */
function toDescribable(cron: string): string {
  const fields = cron.split(" ")
  const [day = ""] = fields.slice(-1)
  const sizes = [60, 60, 24].slice(fields.length === 6 ? 0 : 1)
  return fields
    .map((field, index) => {
      if (index === fields.length - 1) return day.replace("+", "").replace(/^(\w+)#L$/i, "$1L")
      const size = sizes[index]
      return size === undefined ? field : expandStep(field, size)
    })
    .join(" ")
}

/** A step that does not divide the hour or the day is no equal step: 45 minutes after 0:45 is 1:00. */
function expandStep(field: string, size: number): string {
  const step = Number(/^\*\/(\d{1,2})$/.exec(field)?.[1] ?? 1)
  if (step <= 1 || size % step === 0) return field
  return Array.from({ length: Math.ceil(size / step) }, (_, index) => index * step).join(",")
}

function joinWords(words: readonly string[]): string {
  const last = words.at(-1) ?? ""
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${last}` : last
}
