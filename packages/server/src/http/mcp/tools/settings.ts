import { filePath, putScheduleBody, runStatus } from "@hamlet/contract"
import type { Output } from "@hamlet/contract/client"
import { z } from "zod"
import { branchArgument } from "../find-branch.ts"
import { findValId, valArgument } from "../find-val.ts"
import { defineTool, ToolError } from "../tool.ts"
import { nextCursor, pageArguments, toNextCursor } from "../val-view.ts"

const place = {
  val: valArgument,
  file: filePath.optional().describe("The path of a file of type interval; without it, its code"),
  branch: branchArgument,
}

const scheduleView = z.object({
  val: z.string().describe('"username/name" of the val'),
  file: z.string(),
  branch: z.string(),
  cron: z.string().nullable(),
  every: z.string().nullable(),
  timeZone: z.string(),
  description: z.string().describe("When it runs, in words"),
  isPaused: z.boolean(),
  pausedReason: z.string().nullable(),
  nextAt: z.array(z.string()).describe("The next due times; none while it is paused"),
  lastRunAt: z.string().nullable(),
  lastRunId: z.string().nullable().describe("For get_run and read_logs"),
  lastStatus: runStatus.nullable(),
  failureCount: z.int().describe("How many runs in a row have failed"),
})

function toView(it: Output<"getSchedule">): z.infer<typeof scheduleView> {
  return {
    val: `${it.val.author.username}/${it.val.name}`,
    file: it.file.path,
    branch: it.branch.name,
    cron: it.cron,
    every: it.every,
    timeZone: it.timeZone,
    description: it.description,
    isPaused: it.isPaused,
    pausedReason: it.pausedReason,
    nextAt: it.nextAt,
    lastRunAt: it.lastRunAt,
    lastRunId: it.lastRunId,
    lastStatus: it.lastStatus,
    failureCount: it.failureCount,
  }
}

const listSchedules = defineTool({
  name: "list_schedules",
  title: "List schedules",
  description: "Lists the schedules of your vals, newest first, with how their last runs ended.",
  scopes: ["val:read"],
  effect: "read",
  input: z.object(pageArguments),
  output: z.object({ schedules: z.array(scheduleView), nextCursor }),
  async run({ client }, query) {
    const { data, links } = await client.listMySchedules(query)
    return { data: { schedules: data.map(toView), nextCursor: toNextCursor(links) } }
  },
})

const { cron, every, timeZone, isPaused, overlap, catchUp } = putScheduleBody.shape

const setSchedule = defineTool({
  name: "set_schedule",
  title: "Set when a val runs",
  description:
    "Creates or changes the schedule of a val of type interval, or of a file of that type. What you leave out stays as it is. Without cron and every it pauses the schedule, or starts it again.",
  scopes: ["val:read", "val:write"],
  effect: "destroy",
  input: z.object({
    ...place,
    cron: cron.describe("Five fields, or six with seconds, such as 0 9 * * 1-5"),
    every: every.describe("A duration instead, such as 15m, 2h or 1d"),
    timeZone: timeZone.describe("Of cron, such as Europe/Berlin; UTC by default"),
    isPaused: isPaused.describe("true: it starts no runs"),
    overlap: overlap.describe("What a due time does while the run before it goes on"),
    catchUp: catchUp.describe("Whether one run makes up for due times that were missed"),
  }),
  output: scheduleView,
  async run(context, { val, file, branch, ...timing }) {
    if (Object.values(timing).every((value) => value === undefined))
      throw new ToolError(
        "Cannot set the schedule: pass one of cron, every, timeZone, isPaused, overlap, catchUp",
      )
    const val_id = await findValId(context, val)
    return { data: toView(await context.client.putSchedule({ val_id, file, branch, ...timing })) }
  },
})

const deleteSchedule = defineTool({
  name: "delete_schedule",
  title: "Delete a schedule",
  description:
    "Deletes the schedule of a val or a file of yours. Runs that have started go on. To stop it for a while, use set_schedule with isPaused.",
  scopes: ["val:read", "val:write"],
  effect: "destroy",
  input: z.object(place),
  output: z.object({ isDeleted: z.boolean() }),
  async run(context, { val, ...rest }) {
    const val_id = await findValId(context, val)
    await context.client.deleteSchedule({ val_id, ...rest })
    return { data: { isDeleted: true } }
  },
})

const listSecrets = defineTool({
  name: "list_secrets",
  title: "List the names of secrets",
  description:
    "Lists the names of your secrets, which your vals read from Deno.env, or of those that one val has of its own. Values are never shown; ask the user to set what is missing.",
  scopes: ["user:read", "val:read"],
  effect: "read",
  input: z.object({
    val: valArgument.optional().describe("Only the secrets of this val of yours"),
    ...pageArguments,
  }),
  output: z.object({
    secrets: z.array(
      z.object({
        name: z.string(),
        hosts: z
          .array(z.string())
          .nullable()
          .describe("Vals get a placeholder for it, which works in requests to these hosts only"),
        updatedAt: z.string(),
      }),
    ),
    nextCursor,
  }),
  async run(context, { val, ...query }) {
    const { client } = context
    const { data, links } =
      val === undefined
        ? await client.listSecrets(query)
        : await client.listValSecrets({ val_id: await findValId(context, val), ...query })
    const secrets = data.map(({ name, hosts, updatedAt }) => ({ name, hosts, updatedAt }))
    return { data: { secrets, nextCursor: toNextCursor(links) } }
  },
})

/** Schedules, and the names of secrets. */
export const settingTools = [listSchedules, setSchedule, deleteSchedule, listSecrets]
