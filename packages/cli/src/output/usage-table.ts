import type { Output as ApiOutput } from "@hamlet/contract/client"
import { toSize } from "../terminal/progress-line.ts"
import type { Column } from "./list.ts"
import type { Output } from "./output.ts"

interface Row {
  readonly what: string
  readonly used: number
  /** Null if unlimited. */
  readonly max: number | null
  readonly isBytes?: true
}

/** Prints the usage and limits of a user. */
export async function showUsage(output: Output, usage: ApiOutput<"getMyUsage">): Promise<void> {
  if (output.mode === "json") return output.json(usage)
  const { runs, egress, storage, code, blobs, sqlite, mail } = usage
  const rows: readonly Row[] = [
    { what: "runs per minute", used: runs.lastMinute, max: runs.perMinuteMax },
    { what: "concurrent runs", used: runs.atOnce, max: runs.atOnceMax },
    {
      what: "outgoing bytes per minute",
      used: egress.bytesLastMinute,
      max: egress.bytesPerMinuteMax,
      isBytes: true,
    },
    {
      what: "storage requests per minute",
      used: storage.requestsLastMinute,
      max: storage.requestsPerMinuteMax,
    },
    { what: "code", used: code.bytes, max: null, isBytes: true },
    { what: "blobs", used: blobs.bytes, max: blobs.bytesMax, isBytes: true },
    ...(sqlite
      ? [{ what: "database", used: sqlite.bytes, max: sqlite.bytesMax, isBytes: true } as const]
      : []),
    ...(mail
      ? [{ what: "emails per day", used: mail.recipientsLastDay, max: mail.recipientsPerDayMax }]
      : []),
  ]
  await output.list(toItems(rows), { empty: "", columns })
}

async function* toItems(rows: readonly Row[]): AsyncGenerator<Row> {
  yield* rows
}

const columns: readonly Column<Row>[] = [
  { title: "what", value: ({ what }) => what },
  { title: "used", value: ({ used }) => used, human: (row) => toText(row, row.used) },
  {
    title: "of",
    value: ({ max }) => max,
    human: (row) => (row.max === null ? "unlimited" : toText(row, row.max)),
  },
  {
    title: "share",
    value: toShare,
    human: (row) => (row.max === null ? "" : `${toShare(row)}%`),
    paint: (colour, row) => toPaint(colour, row),
  },
]

function toText({ isBytes }: Row, count: number): string {
  return isBytes ? toSize(count) : String(count)
}

function toShare({ used, max }: Row): number | null {
  return max === null ? null : max === 0 ? 100 : Math.floor((used / max) * 100)
}

const nearlyAll = 80
const all = 100

/** Highlights usage near a limit. */
function toPaint(
  colour: Parameters<NonNullable<Column<Row>["paint"]>>[0],
  row: Row,
): (text: string) => string {
  const share = toShare(row) ?? 0
  return share >= all ? colour.red : share >= nearlyAll ? colour.yellow : (text) => text
}
