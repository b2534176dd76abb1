import type { Output } from "@hamlet/contract/client"
import { scheduleCatchUps, scheduleOverlaps } from "@hamlet/contract/lists"
import { CliError } from "../../cli-error.ts"
import { defineCommand, type Verbs } from "../../command.ts"
import { findWholeVal, toFullName } from "../../names/find-val.ts"
import {
  confirm,
  confirmOption,
  defineCall,
  defineList,
  listOptions,
  type Result,
} from "../../shapes.ts"
import { toAgo } from "../../terminal/ago.ts"

const takesVal = {
  "<val>": "name of the val",
  "--file <path>": "a file of the val instead of its code",
  "--branch <name>": "a branch instead of main",
} as const

export const verbs: Verbs = {
  set: defineCall({
    summary: "Set when a val runs",
    description: `The val must be of type interval. Options that you leave out keep their values. A cron expression has
five fields, or six with seconds.`,
    examples: [
      ["hamlet schedule set report --every 15m", "run it every 15 minutes"],
      [
        'hamlet schedule set report --cron "0 9 * * 1-5" --time-zone Europe/Berlin',
        "every weekday at 09:00 in Berlin",
      ],
      ["hamlet schedule set report --overlap queue", "let due times wait for the run before"],
    ],
    takes: {
      ...takesVal,
      "-c, --cron <expression>": "when it runs, as a cron expression",
      "-e, --every <duration>": "how often it runs, such as 30s, 15m, 2h or 1d",
      "-z, --time-zone <zone>": "time zone of the expression, such as Europe/Berlin",
      "--overlap <overlap>": {
        help: "what happens while the run before goes on",
        choices: scheduleOverlaps,
      },
      "--catch-up <runs>": {
        help: "runs for due times that an outage missed",
        choices: scheduleCatchUps,
      },
    },
    check({ cron, every, timeZone, overlap, catchUp }) {
      const settings = [cron, every, timeZone, overlap, catchUp]
      if (settings.every((setting) => setting === undefined))
        throw new CliError("usage", "Cannot set the schedule: no option says what", {
          advice: "use --cron or --every",
        })
    },
    async call(session, { val, file, branch, cron, every, timeZone, overlap, catchUp }) {
      const { id } = await findWholeVal(session, val)
      const settings = { cron, every, timeZone, overlap, catchUp }
      return toResult(await session.client.putSchedule({ val_id: id, file, branch, ...settings }))
    },
  }),
  show: defineCall({
    summary: "Show a schedule",
    description: "Prints when the val runs, its next due times and how its last run ended.",
    examples: [["hamlet schedule show report", "show a schedule"]],
    takes: takesVal,
    async call(session, { val, file, branch }) {
      const { id } = await findWholeVal(session, val)
      return toResult(await session.client.getSchedule({ val_id: id, file, branch }))
    },
  }),
  list: defineList({
    summary: "List your schedules",
    description: "Newest schedules first.",
    examples: [["hamlet schedule list", "list your schedules with their last outcomes"]],
    takes: listOptions,
    items: ({ client }, _, page) => client.items("listMySchedules", page),
    empty: 'No schedules; create one with "hamlet schedule set"',
    columns: [
      { title: "val", value: ({ val }) => toFullName(val), paint: (colour) => colour.bold },
      { title: "runs", value: ({ description }) => description },
      {
        title: "state",
        value: toState,
        paint: (colour, it) => (toState(it) === "active" ? colour.green : colour.yellow),
      },
      { title: "next", value: ({ nextAt }) => nextAt[0], isTime: true },
      { title: "last run", value: ({ lastRunAt }) => lastRunAt, isTime: true },
      { title: "status", value: ({ lastStatus }) => lastStatus },
      { title: "file", value: ({ file }) => file.path },
      { title: "branch", value: ({ branch }) => branch.name },
    ],
  }),
  pause: defineCall({
    summary: "Pause a schedule",
    description: "Due times until it is resumed have no run.",
    examples: [["hamlet schedule pause report", "start no more runs"]],
    takes: takesVal,
    async call(session, { val, file, branch }) {
      const { id } = await findWholeVal(session, val)
      const paused = { val_id: id, file, branch, isPaused: true }
      return toResult(await session.client.putSchedule(paused))
    },
  }),
  resume: defineCall({
    summary: "Resume a paused schedule",
    description: "It goes on with the next due time; its failures are counted anew.",
    examples: [["hamlet schedule resume report", "start runs again"]],
    takes: takesVal,
    async call(session, { val, file, branch }) {
      const { id } = await findWholeVal(session, val)
      const resumed = { val_id: id, file, branch, isPaused: false }
      return toResult(await session.client.putSchedule(resumed))
    },
  }),
  rm: defineCall({
    summary: "Delete a schedule",
    description: "The val stays, and so do its runs.",
    examples: [
      ["hamlet schedule rm report", "delete a schedule after confirmation"],
      ["hamlet schedule rm report --yes", "delete it without confirmation"],
    ],
    takes: { ...takesVal, ...confirmOption },
    async call(session, { val: text, file, branch, yes }) {
      const val = await findWholeVal(session, text)
      const name = toFullName(val)
      await confirm(`Delete the schedule of ${name}?`, { yes })
      await session.client.deleteSchedule({ val_id: val.id, file, branch })
      return {
        json: { val: name, deleted: true },
        plain: name,
        human: `Deleted the schedule of ${name}`,
      }
    },
  }),
  preview: defineCommand({
    summary: "Show when a schedule would run",
    description: "Saves nothing.",
    examples: [
      ['hamlet schedule preview --cron "0 9 * * 1-5" --time-zone Europe/Berlin', "in words"],
      ["hamlet schedule preview --every 90m", "the next ten due times"],
    ],
    takes: {
      "-c, --cron <expression>": "a cron expression of five fields, or six with seconds",
      "-e, --every <duration>": "a duration, such as 30s, 15m, 2h or 1d",
      "-z, --time-zone <zone>": "time zone of the expression, such as Europe/Berlin",
    },
    async run({ connect, output }, { cron, every, timeZone }) {
      const { client } = await connect()
      const preview = await client.previewSchedule({ cron, every, timeZone })
      if (output.mode === "json") return output.json(preview)
      const heading = output.mode === "human" ? [preview.description] : []
      output.text(`${[...heading, ...preview.nextAt].join("\n")}\n`)
    },
  }),
}

type Schedule = Output<"getSchedule">

/** Whether the schedule starts runs, in one word. */
function toState({ isPaused, isFailing }: Schedule): string {
  if (isPaused) return "paused"
  return isFailing ? "failing" : "active"
}

function toResult(it: Schedule): Result {
  const now = Date.now()
  const toRelative = (at: string | null) => (at === null ? "" : toAgo(at, now))
  const [next = null, ...later] = it.nextAt
  return {
    json: it,
    fields: [
      ["val", toFullName(it.val)],
      ["file", it.file.path],
      ["branch", it.branch.name],
      ["runs", it.description],
      ["cron", it.cron],
      ["every", it.every],
      ["time zone", it.timeZone],
      ["state", toState(it)],
      ["reason", it.pausedReason],
      ["overlap", it.overlap],
      ["catch up", it.catchUp],
      ["next", next, next === null ? "" : `${next} (${toRelative(next)})`],
      ["then", later.length === 0 ? null : later.join(" "), later.slice(0, 4).join(" ")],
      ["last run", it.lastRunAt, toRelative(it.lastRunAt)],
      ["last status", it.lastStatus],
      ["failures", it.failureCount],
      ["run", it.lastRunId],
    ],
  }
}
